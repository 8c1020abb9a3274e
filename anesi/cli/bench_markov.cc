#include "anesi/cli/bench_markov.h"

#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "anesi/check/markov_check.h"
#include "anesi/cli/command.h"
#include "anesi/predict/soft_count.h"
#include "anesi/tensors/seeded.h"

namespace anesi::cli {
namespace {

constexpr std::uint64_t kSeedOfSoftTraining = 1, kSeedOfUnseenSoftFormulas = 7000, kSeedOfWorlds = 2000;
constexpr std::int64_t kSoftFormulas = 50, kSoftSamples = 50000, kWorldsSeen = 10000;
constexpr std::int64_t kRecoveredByQ = 5;  // formulas, for q's second derivatives are dear
constexpr double kSecondsToCompile = 60;

// The same weights, asked with another number of cases.
std::shared_ptr<GraphNetwork> with_cases(GraphNetwork& network, std::int64_t cases) {
  auto options = network.options();
  options.cases = cases;
  auto copy = soft_network(options);
  const torch::NoGradGuard no_gradients;
  const auto from = network.parameters(), to = copy->parameters();
  for (std::size_t place = 0; place < from.size(); ++place) to[place].copy_(from[place]);
  return copy;
}

nlohmann::ordered_json count_soft_formulas(const std::shared_ptr<GraphNetwork>& network, bool json) {
  auto rows = nlohmann::ordered_json::array();
  if (!json) {
    std::cout << fmt::format("{:<24}{:>7}{:>10}{:>10}{:>10}{:>10}{:>11}{:>12}\n", "errors of log Z", "cases", "q mean",
                             "q most", "sampled", "most", "effective", "circuit");
  }
  const auto propagation = soft_network({.width = 0});
  for (const auto& [name, asked] :
       {std::pair("belief propagation", propagation), std::pair("graph, trained", network)}) {
    for (const std::int64_t cases : {1, 8, 32}) {
      const auto found = check_soft_counts(with_cases(*asked, cases), random_soft_formulas(kSecondsToCompile),
                                           kSoftFormulas, kSoftSamples, kSeedOfUnseenSoftFormulas);
      rows.push_back({{"name", name},
                      {"cases", cases},
                      {"formulas", found.formulas},
                      {"samples", found.samples},
                      {"predicted_mean", found.predicted_mean},
                      {"predicted_most", found.predicted_most},
                      {"sampled_mean", found.sampled_mean},
                      {"sampled_most", found.sampled_most},
                      {"effective", found.effective},
                      {"circuit_most", found.circuit_most},
                      {"compiled", found.compiled}});
      if (json) continue;
      std::cout << fmt::format("{:<24}{:>7}{:>10.4f}{:>10.4f}{:>10.5f}{:>10.5f}{:>11.3f}{:>12.1e}\n", name, cases,
                               found.predicted_mean, found.predicted_most, found.sampled_mean, found.sampled_most,
                               found.effective, found.circuit_most)
                << std::flush;
    }
  }
  return rows;
}

nlohmann::ordered_json recover_weights(const std::shared_ptr<GraphNetwork>& network, bool json) {
  auto rows = nlohmann::ordered_json::array();
  if (!json) {
    std::cout << fmt::format("\n{:<24}{:>10}{:>8}{:>10}{:>14}{:>10}{:>14}\n", "weights found by", "formulas", "open",
                             "weights", "within 2 s.e.", "most", "mean squared");
  }
  struct Way {
    const char* name;
    PartitionBy by;
    bool beliefs;
    std::int64_t formulas;
  };
  for (const auto& [name, by, beliefs, formulas] :
       {Way{"circuit", PartitionBy::kCircuit, false, kSoftFormulas},
        Way{"circuit, with beliefs", PartitionBy::kCircuit, true, kRecoveredByQ},
        Way{"sampling", PartitionBy::kSampling, false, kSoftFormulas},
        Way{"q", PartitionBy::kQ, false, kRecoveredByQ}}) {
    const auto found = check_recovery(random_soft_formulas(kSecondsToCompile), formulas, kWorldsSeen, beliefs,
                                      {.by = by, .samples = 4 * kSoftSamples}, kSeedOfWorlds, network);
    rows.push_back({{"by", name},
                    {"formulas", found.formulas},
                    {"open", found.open},
                    {"weights", found.weights},
                    {"within_two", found.within_two},
                    {"most_errors", found.most_errors},
                    {"mean_squared", found.mean_squared}});
    if (json) continue;
    std::cout << fmt::format("{:<24}{:>10}{:>8}{:>10}{:>13.1f}%{:>10.2f}{:>14.3f}\n", name, found.formulas, found.open,
                             found.weights, 100 * found.within_two, found.most_errors, found.mean_squared)
              << std::flush;
  }
  return rows;
}

}  // namespace

void bench_markov(bool json) {
  const SeededWeights seeded_weights(kSeedOfSoftTraining);
  const auto network = soft_network();
  const auto begin = std::chrono::steady_clock::now();
  FormulaTrainingOptions options{.steps = 500, .formulas = 4, .worlds = 64, .learning_rate = 1e-3};
  train_on_soft_formulas(network, random_soft_formulas(), options, kSeedOfSoftTraining);
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!json) std::cout << fmt::format("trained in {:.0f} s\n", seconds) << std::flush;
  const auto counts = count_soft_formulas(network, json), fits = recover_weights(with_cases(*network, 32), json);
  if (json) {
    print_json(nlohmann::ordered_json{{"counts", counts}, {"fits", fits}, {"training_seconds", seconds}});
    return;
  }
  std::cout << fmt::format(
      "{} random weighted formulas of 4 to 12 variables, none trained on; errors of log Z(P) in nats, against all "
      "worlds: "
      "of q, of\nimportance sampling with {} samples, of the circuit. Weights from {} worlds; of distances in standard "
      "errors 95.4 % are within\ntwo where the errors are right, and their mean square is 1. Open are formulas whose "
      "worlds do not tell all weights: "
      "they were left out.\n",
      kSoftFormulas, kSoftSamples, kWorldsSeen);
}

}  // namespace anesi::cli
