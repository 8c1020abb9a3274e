#include "anesi/cli/bench_formulas.h"

#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "anesi/check/count_check.h"
#include "anesi/cli/command.h"
#include "anesi/tensors/seeded.h"
#include "anesi/train/formula_training.h"

namespace anesi::cli {
namespace {

constexpr std::uint64_t kSeedOfTraining = 1, kSeedOfUnseenFormulas = 1000;
constexpr std::int64_t kUnseenFormulas = 200, kCountedSamples = 4000;
constexpr double kFewestClauses = 1.5, kMostClauses = 4.5;  // a variable, while the network learns

}  // namespace

void bench_formulas(bool json) {
  const SeededWeights seeded_weights(kSeedOfTraining);
  GraphOptions without;
  without.width = 0;
  const auto propagation = std::make_shared<GraphNetwork>(without);
  const auto network = std::make_shared<GraphNetwork>();
  const auto begin = std::chrono::steady_clock::now();
  train_on_formulas(network, random_formulas(kFewestClauses, kMostClauses), {}, kSeedOfTraining);
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  auto rows = nlohmann::ordered_json::array();
  if (!json) {
    std::cout << fmt::format("trained in {:.0f} s\n", seconds)
              << fmt::format("{:<24}{:>8}{:>10}{:>10}{:>10}{:>10}{:>9}{:>11}{:>9}{:>11}\n", "", "clauses", "q mean",
                             "q 95 %", "sampled", "95 %", "within", "effective", "covered", "satisfied");
  }
  for (const auto& [name, asked] :
       {std::pair("belief propagation", propagation), std::pair("graph, trained", network)}) {
    for (const int ratio : {2, 3, 4}) {
      const auto found = check_counts(asked, random_formulas(ratio, ratio), kUnseenFormulas, kCountedSamples,
                                      kSeedOfUnseenFormulas + static_cast<std::uint64_t>(ratio));
      rows.push_back({{"name", name},
                      {"clauses_per_variable", ratio},
                      {"formulas", found.formulas},
                      {"samples", found.samples},
                      {"predicted_mean", found.predicted_mean},
                      {"predicted_95", found.predicted_95},
                      {"sampled_mean", found.sampled_mean},
                      {"sampled_95", found.sampled_95},
                      {"within", found.within},
                      {"effective", found.effective},
                      {"covered", found.covered},
                      {"satisfied", found.satisfied}});
      if (json) continue;
      std::cout << fmt::format("{:<24}{:>8}{:>10.3f}{:>10.3f}{:>10.4f}{:>10.4f}{:>9.3f}{:>11.3f}{:>9.3f}{:>11.4f}\n",
                               name, ratio, found.predicted_mean, found.predicted_95, found.sampled_mean,
                               found.sampled_95, found.within, found.effective, found.covered, found.satisfied)
                << std::flush;
    }
  }
  if (json) {
    print_json(nlohmann::ordered_json{{"formulas", rows}, {"training_seconds", seconds}});
  } else {
    std::cout << fmt::format(
        "{} random 3-CNF of 10 to 20 variables each, none trained on; errors of log p(y=1|P) in nats: of q(y=1|P), and "
        "of importance\nsampling with {} samples; within: off by at most {}; effective: sample size, as a share; "
        "covered: by the 95 % interval\n",
        kUnseenFormulas, kCountedSamples, kCloseCount);
  }
}

}  // namespace anesi::cli
