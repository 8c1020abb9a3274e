#include "anesi/cli/bench_priors.h"

#include <fmt/format.h>

#include <array>
#include <iostream>
#include <nlohmann/json.hpp>

#include "anesi/check/prior_check.h"
#include "anesi/cli/command.h"

namespace anesi::cli {
namespace {

constexpr auto kJudgedTask = "light-curtain";
// Presets that differ in their prior alone. The first two are what the others are compared with.
constexpr std::array kJudgedPresets{"independent", "independent-free", "mixture", "default"};
constexpr std::int64_t kJudgedSeeds = 3;

PriorCheck check_preset(const std::string& preset, std::int64_t seed) {
  Configuration configuration(kJudgedTask, preset);
  configuration.table().set("seed", std::to_string(seed));
  return check_prior(configuration, configuration.make_task({}));
}

// The sum, then the mean, of several.
PriorCheck mean_of(const std::vector<PriorCheck>& checks) {
  const auto share = 1.0 / static_cast<double>(checks.size());
  PriorCheck mean;
  for (const auto& check : checks) {
    mean.perceived.divergence += share * check.perceived.divergence;
    mean.perceived.total_variation += share * check.perceived.total_variation;
    mean.symbolic += share * check.symbolic;
    mean.neural += share * check.neural;
    mean.per_variable += share * check.per_variable;
    mean.surprise += share * check.surprise;
    mean.seconds += share * check.seconds;
  }
  return mean;
}

void print_row(const std::string& name, const std::string& seed, const PriorCheck& check) {
  std::cout << fmt::format("{:<20}{:>6}{:>9.4f}{:>9.4f}{:>9.2f} %{:>8.2f} %{:>8.2f} %{:>10.4f}{:>9.1f}\n", name, seed,
                           check.perceived.divergence, check.perceived.total_variation, 100 * check.neural,
                           100 * check.symbolic, 100 * check.per_variable, check.surprise, check.seconds)
            << std::flush;
}

}  // namespace

void bench_priors(bool json) {
  auto rows = nlohmann::ordered_json::array();
  if (!json) {
    std::cout << fmt::format("{:<20}{:>6}{:>9}{:>9}{:>11}{:>10}{:>10}{:>10}{:>9}\n", "", "seed", "KL", "TV", "neural",
                             "symbolic", "variable", "surprise", "seconds");
  }
  double judged_against = 0;
  for (const std::string preset : kJudgedPresets) {
    std::vector<PriorCheck> checks;
    for (std::int64_t seed = 0; seed < kJudgedSeeds; ++seed) {
      const auto& check = checks.emplace_back(check_preset(preset, seed));
      rows.push_back({{"preset", preset},
                      {"seed", seed},
                      {"kl_perceived", check.perceived.divergence},
                      {"tv_perceived", check.perceived.total_variation},
                      {"neural", check.neural},
                      {"symbolic", check.symbolic},
                      {"per_variable", check.per_variable},
                      {"surprise", check.surprise},
                      {"seconds", check.seconds}});
      if (!json) print_row(preset, std::to_string(seed), check);
    }
    const auto mean = mean_of(checks);
    if (judged_against == 0) judged_against = mean.perceived.divergence;
    if (json) continue;
    print_row(preset, "mean", mean);
    std::cout << fmt::format("{:<26}{:>+8.1f} % against {}\n", "",
                             100 * (mean.perceived.divergence / judged_against - 1), kJudgedPresets.front());
  }
  if (json) {
    print_json(nlohmann::ordered_json{{"task", kJudgedTask}, {"priors", rows}});
  } else {
    std::cout << "KL and TV: of q(y|P) from exact inference, on what perception believes of the test inputs; surprise: "
                 "-log P_i(w_i)\nat the true worlds, in nats a variable. The same q, samples and steps for all.\n";
  }
}

}  // namespace anesi::cli
