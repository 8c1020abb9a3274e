#include "anesi/check/soft_check.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/formula/markov_data.h"
#include "anesi/formula/weighted_beliefs.h"
#include "anesi/predict/soft_count.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/train/formula_training.h"

namespace anesi {
namespace {

constexpr std::int64_t kMostClausesShown = 30;

void tell_exactly(CheckReport& report, const MarkovInference& logic, const torch::Tensor& beliefs, double log_scale) {
  const auto& circuit = *logic.circuit();
  const auto weights = logic.weights();
  const auto log_z = circuit.log_partition(beliefs, weights).item<double>() + log_scale;
  report.line(true, "log Z, exactly", fmt::format("{:.6f}", log_z));
  report.set("log_z", log_z);
  const auto best = circuit.most_probable(beliefs, weights);
  const auto world = literals_of_world(logic, row_of(best.worlds, 0));
  const auto probability = best.log_prob.exp().item<double>();
  report.line(true, "most probable world", fmt::format("{}, probability {:.4g}", world, probability));
  report.set("most_probable", {{"literals", world}, {"probability", probability}});
  const auto expected = circuit.expected(beliefs, weights)[0];
  auto holds = nlohmann::ordered_json::array();
  for (std::int64_t clause = 0; clause < logic.clauses(); ++clause) {
    const auto& soft = logic.formula().soft[static_cast<std::size_t>(clause)];
    holds.push_back(expected[clause].item<double>());
    if (clause >= kMostClausesShown) continue;
    std::string literals;
    for (const auto literal : soft.literals) literals += fmt::format("{} ", literal);
    report.line(true, fmt::format("soft clause {}", clause + 1),
                fmt::format("weight {:.4g}, holds with probability {:.4f}: {}", soft.weight,
                            expected[clause].item<double>(), literals));
  }
  report.set("holds", holds);
}

}  // namespace

CheckReport check_soft_formula_file(const std::filesystem::path& file, const SoftCheckOptions& options) {
  CheckReport report;
  for (const auto* key : {"log_z", "most_probable", "holds", "nodes", "predicted_log_z", "sampled_log_z"}) {
    report.set(key, nullptr);
  }
  auto formula = read_wcnf(file, [&](const std::string& warning) { report.line(true, "warning", warning); });
  report.line(true, "formula",
              fmt::format("{} variables, {} hard clauses, {} soft ones", formula.hard.variables,
                          formula.hard.clauses.size(), formula.soft.size()));
  const auto start = std::chrono::steady_clock::now();
  const auto logic = std::make_shared<const MarkovInference>(std::move(formula), options.seconds);
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.line(true, "hard clauses",
              fmt::format("some world keeps them; {} world variables", logic->worlds().variables()));
  const auto& hard = logic->formula().hard;
  const auto& encoding = logic->hard().facts().find<Cnf>()->encoding();
  if (weighs_hidden(encoding, hard)) throw UsageError("check: weights of variables that are not shown; show them");
  const auto asked = weighted_beliefs(encoding, logic->worlds(), hard);
  const auto beliefs = tensor_of(asked.beliefs.rows()).unsqueeze(0);
  if (const auto* const circuit = logic->circuit()) {
    report.line(true, "circuit", fmt::format("{} nodes, in {:.2f} s", circuit->nodes(), seconds));
    report.set("nodes", circuit->nodes());
    tell_exactly(report, *logic, beliefs, asked.log_scale);
  } else {
    report.line(true, "circuit", fmt::format("none within {:.0f} s (--seconds)", options.seconds));
  }
  const SeededWeights seeded_weights(options.seed);
  const auto network =
      soft_network({.width = options.steps > 0 ? GraphOptions{}.width : 0, .cases = kCasesOfSoftClauses});
  if (options.steps > 0) {
    train_on_soft_formulas(network, weights_of_one_formula(logic), {.steps = options.steps}, options.seed);
  }
  const torch::NoGradGuard no_gradients;
  const auto predicted =
      predicted_log_partition(*logic, network, beliefs.to(torch::kFloat32), logic->weights()).item<double>() +
      asked.log_scale;
  report.line(
      true, "log Z, by q",
      fmt::format("{:.4f} ({})", predicted,
                  options.steps > 0 ? fmt::format("learned in {} updates, for any beliefs and weights", options.steps)
                                    : "belief propagation, nothing learned"));
  report.set("predicted_log_z", predicted);
  if (options.samples < 2) return report;
  const auto estimate =
      estimate_log_partition(*logic, network, beliefs, logic->weights(), options.samples, seeded(options.seed));
  const auto of = [&](const torch::Tensor& log) { return log.item<double>() + asked.log_scale; };
  report.line(true, "log Z, by sampling",
              fmt::format("{:.4f}, from {:.4f} to {:.4f} with 95 %, effective size {:.0f} of {}", of(estimate.log_prob),
                          of(estimate.low), of(estimate.high), estimate.effective.item<double>(), options.samples));
  report.set("sampled_log_z", {{"log_z", of(estimate.log_prob)},
                               {"low", of(estimate.low)},
                               {"high", of(estimate.high)},
                               {"effective", estimate.effective.item<double>()},
                               {"samples", options.samples}});
  return report;
}

}  // namespace anesi
