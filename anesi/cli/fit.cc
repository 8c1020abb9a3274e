// anesi fit: the weights of soft clauses from worlds that were seen.
#include <fmt/format.h>

#include <iostream>

#include "anesi/cli/command.h"
#include "anesi/cli/numbers.h"
#include "anesi/formula/markov_data.h"
#include "anesi/io/files.h"
#include "anesi/predict/soft_count.h"
#include "anesi/tensors/arrays.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/train/fit_weights.h"
#include "anesi/train/formula_training.h"

namespace anesi::cli {
namespace {

struct FitFlags {
  CommonFlags common;
  std::string formula, worlds, beliefs, out, by = "circuit";
  FitOptions options;
  std::int64_t learn = 300;
  double seconds = 60;
  std::uint64_t seed = 0;
};

nlohmann::ordered_json fit_to_json(const MarkovInference& logic, const FittedWeights& fitted) {
  auto clauses = nlohmann::ordered_json::array();
  for (std::int64_t clause = 0; clause < logic.clauses(); ++clause) {
    clauses.push_back({{"literals", logic.formula().soft[static_cast<std::size_t>(clause)].literals},
                       {"weight", fitted.weights[clause].item<double>()},
                       {"error", fitted.errors[clause].item<double>()},
                       {"seen", fitted.seen[clause].item<double>()}});
  }
  return {{"clauses", clauses},
          {"log_likelihood", fitted.log_likelihood},
          {"steps", fitted.steps},
          {"converged", fitted.converged}};
}

void print_fit(const MarkovInference& logic, const FittedWeights& fitted, std::int64_t worlds) {
  std::cout << fmt::format("{:>10}{:>10}{:>10}   {}\n", "weight", "error", "holds", "clause");
  for (std::int64_t clause = 0; clause < logic.clauses(); ++clause) {
    std::string literals;
    for (const auto literal : logic.formula().soft[static_cast<std::size_t>(clause)].literals) {
      literals += fmt::format("{} ", literal);
    }
    std::cout << fmt::format("{:>10.4f}{:>10.4f}{:>9.2f}%   {}\n", fitted.weights[clause].item<double>(),
                             fitted.errors[clause].item<double>(), 100 * fitted.seen[clause].item<double>(), literals);
  }
  std::cout << fmt::format("log-likelihood of a world {:.6f}, of {} worlds; {} steps{}\n", fitted.log_likelihood,
                           worlds, fitted.steps, fitted.converged ? "" : ", not converged");
}

int fit(FitFlags flags) {
  const auto context = flags.common.context();
  OptionTable table;
  flags.options.describe(table);
  table.set("by=" + flags.by);
  const auto logic = std::make_shared<const MarkovInference>(read_wcnf(flags.formula, context.say), flags.seconds);
  const auto worlds = tensor_of(worlds_of(*logic, read_table(flags.worlds)).rows());
  const auto beliefs =
      flags.beliefs.empty() ? torch::Tensor() : tensor_of(beliefs_of(*logic, read_table(flags.beliefs)));
  if (flags.options.by == PartitionBy::kCircuit && logic->circuit() == nullptr) {
    throw UsageError("the formula did not compile; give it more --seconds, or fit --by sampling");
  }
  std::shared_ptr<GraphNetwork> network;
  if (flags.options.by != PartitionBy::kCircuit) {
    const SeededWeights seeded_weights(flags.seed);
    const bool learns = flags.options.by == PartitionBy::kQ && flags.learn > 0;
    network = soft_network({.width = learns ? GraphOptions{}.width : 0, .cases = kCasesOfSoftClauses});
    if (learns) {
      context.say(fmt::format("q learns the formula, {} updates", flags.learn));
      train_on_soft_formulas(network, weights_of_one_formula(logic), {.steps = flags.learn}, flags.seed);
    }
  }
  const auto fitted = fit_weights(*logic, worlds, beliefs, flags.options, flags.seed, network);
  if (!flags.out.empty()) {
    auto formula = logic->formula();
    for (std::size_t clause = 0; clause < formula.soft.size(); ++clause) {
      formula.soft[clause].weight = fitted.weights[static_cast<std::int64_t>(clause)].item<double>();
    }
    write_file_atomically(flags.out, to_wcnf(formula));
  }
  if (flags.common.json) {
    print_json(fit_to_json(*logic, fitted));
  } else {
    print_fit(*logic, fitted, worlds.size(0));
  }
  return fitted.converged ? 0 : kFailed;
}

}  // namespace

void add_fit(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("fit", "the weights of a weighted formula's soft clauses, from worlds");
  auto flags = std::make_shared<FitFlags>();
  command->add_option("FORMULA", flags->formula, "a weighted formula (.wcnf); its weights are not looked at")
      ->required();
  command
      ->add_option("WORLDS", flags->worlds,
                   "a table (.csv, .npy): a row for each world, a column of 0 and 1 for each variable")
      ->required();
  command->add_option("--beliefs", flags->beliefs,
                      "a table of the same shape: how likely each variable is true, before the clauses are looked at");
  command->add_option("--by", flags->by, "how log Z is found: circuit (exactly), sampling, or q (default circuit)")
      ->check(CLI::IsMember({"circuit", "sampling", "q"}));
  command->add_option("--samples", flags->options.samples, "worlds drawn for each belief, by sampling (default 20000)")
      ->check(whole_number(2, 100'000'000));
  command->add_option("--learn", flags->learn, "updates while q learns the formula, by q (default 300)")
      ->check(whole_number(0, 1'000'000));
  command
      ->add_option("--deviation", flags->options.deviation,
                   "standard deviation of a normal prior of the weights (default: no prior)")
      ->check(real_number(0.0, 1e6));
  command->add_flag("--tied", flags->options.tied, "clauses that weigh the same in the file have one weight in common");
  command->add_option("--steps", flags->options.steps, "of Newton's method, at most (default 50)")
      ->check(whole_number(1, 100'000));
  command->add_option("--seconds", flags->seconds, "after which compiling the formula is given up (default 60)")
      ->check(real_number(0.0, 1e6));
  command->add_option("--seed", flags->seed, "decides every random draw (default 0)")->check(seed_number());
  command->add_option("--out", flags->out, "write the formula with the weights that were found to this file");
  flags->common.add_to(*command);
  command->footer(
      "Maximum likelihood, with standard errors. Exits with 1 where it does not converge.\n"
      "Examples:\n  anesi fit examples/friends.wcnf worlds.csv --out fitted.wcnf\n"
      "  anesi fit rules.wcnf worlds.csv --beliefs seen.csv --tied --json");
  command->callback([flags, &exit_code] { exit_code = fit(*flags); });
}

}  // namespace anesi::cli
