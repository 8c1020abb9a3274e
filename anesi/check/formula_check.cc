#include "anesi/check/formula_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "anesi/core/error.h"
#include "anesi/formula/constraint.h"
#include "anesi/formula/weighted_beliefs.h"
#include "anesi/io/files.h"
#include "anesi/logic/circuit_files.h"
#include "anesi/models/architecture.h"

#include "anesi/options/option_table.h"
#include "anesi/predict/count.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

bool is_circuit_file(const std::filesystem::path& file) {
  const auto ending = file.extension();
  return ending == ".nnf" || ending == ".ddnnf" || ending == ".sdd";
}

// Logarithms of the file's weights, 1 where it gives none. In a projected formula hidden variables have no weight.
Circuit::Weights weights_of(const Circuit& circuit, const Dimacs& formula, const Cnf& cnf) {
  Circuit::Weights weights(circuit.places(), 0);
  for (const auto& [literal, weight] : formula.weights) weights[circuit.place_of(literal)] = std::log(weight);
  if (!cnf.is_projected()) return weights;
  for (const auto variable : cnf.further_variables()) {
    weights[circuit.place_of(variable)] = weights[circuit.place_of(-variable)] = 0;
  }
  return weights;
}

std::string in_powers_of_ten(double log) {
  const auto power = std::floor(log / std::log(10));
  return fmt::format("{:.4g} x 10^{:.0f}", std::exp(log - power * std::log(10)), power);
}

// Counts by sampling, and says so.
void count_by_sampling(CheckReport& report, const Problem& problem, const Dimacs& formula, std::optional<double> exact,
                       const FormulaCheckOptions& options) {
  const auto pruner = problem.facts().share<Pruner>();
  const auto* const cnf = problem.facts().find<Cnf>();
  if (!pruner || cnf == nullptr || options.samples == 0 || weighs_hidden(cnf->encoding(), formula)) return;
  const auto weighted = weighted_beliefs(cnf->encoding(), problem.worlds(), formula);
  const auto beliefs = tensor_of(weighted.beliefs.rows()).unsqueeze(0);
  const torch::NoGradGuard no_gradients;
  const auto model = make_model(problem, "graph", /*explain=*/true);
  const SymbolicPruning pruning(pruner, DeadEnds::kOfferNothing);
  const auto estimate =
      estimate_log_prob(*model.explanation, problem, {beliefs.to(torch::kFloat32), torch::ones({1, 1}, torch::kInt64)},
                        options.samples, seeded(options.seed), &pruning);
  const auto of = [&](const torch::Tensor& log) { return log.item<double>() + weighted.log_scale; };
  const auto low = of(estimate.low), high = of(estimate.high);
  auto words = fmt::format("log count {:.4f}, from {:.4f} to {:.4f} with 95 %, effective size {:.0f} of {}",
                           of(estimate.log_prob), low, high, estimate.effective.item<double>(), options.samples);
  if (exact) words += fmt::format("; exactly {:.4f}", *exact);
  report.line(true, "counted by sampling", words + "; solutions that no draw came near are not seen");
  report.set("sampled_log_count", {{"log_count", of(estimate.log_prob)},
                                   {"low", low},
                                   {"high", high},
                                   {"effective", estimate.effective.item<double>()},
                                   {"samples", options.samples}});
}

}  // namespace

CheckReport check_formula_file(const std::filesystem::path& file, const FormulaCheckOptions& options) {
  CheckReport report(options.tell);
  std::optional<Dimacs> formula;
  if (!is_circuit_file(file)) {
    formula = read_dimacs(file, [&](const std::string& warning) { report.line(true, "warning", warning); });
    report.line(true, "formula",
                fmt::format("{} variables{}, {} clauses{}", formula->variables,
                            formula->has_show ? fmt::format(", {} of them shown", formula->shown.size()) : "",
                            formula->clauses.size(),
                            formula->weights.empty() ? "" : fmt::format(", {} weights", formula->weights.size())));
    report.set("variables", formula->variables);
    report.set("clauses", formula->clauses.size());
  }
  const auto start = std::chrono::steady_clock::now();
  const auto problem =
      formula ? formula_problem(*formula, options.formula) : read_formula_problem(file, options.formula);
  const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::int64_t groups = 0;
  for (const auto domain : problem->worlds().domains()) groups += domain > 2 ? 1 : 0;
  report.line(
      true, "problem",
      fmt::format("{}: {} world variables{}, {} outputs", name_of(options.formula.as), problem->worlds().variables(),
                  groups > 0 ? fmt::format(" ({} of them groups of which exactly one holds)", groups) : "",
                  problem->outputs().variables()));
  report.set("worlds", problem->worlds().variables());
  report.set("outputs", problem->outputs().variables());
  report.line(true, "satisfiable", "some world satisfies it");
  const auto compiled = problem->facts().share<CompiledFormula>();
  report.set("nodes", nullptr);
  report.set("models", nullptr);
  report.set("log_count", nullptr);
  if (compiled) {
    const auto& circuit = compiled->circuit;
    report.line(true, "circuit", fmt::format("{} nodes, in {:.2f} s", circuit.nodes(), seconds));
    report.set("nodes", circuit.nodes());
    const auto log_models = circuit.log_count(Circuit::Weights(circuit.places(), 0));
    const auto models = circuit.models();
    report.line(true, "models", models < 9e15 ? fmt::format("{:.0f}", models) : in_powers_of_ten(log_models));
    report.set("models", models);
    report.set("log_models", log_models);
    if (formula && !formula->weights.empty() && options.formula.as != FormulaAs::kClauses) {
      const auto log_count = circuit.log_count(weights_of(circuit, *formula, *problem->facts().find<Cnf>()));
      report.line(true, "weighted count",
                  fmt::format("{} (its logarithm: {:.6f})", in_powers_of_ten(log_count), log_count));
      report.set("log_count", log_count);
    }
    if (!options.write_nnf.empty()) {
      write_file_atomically(options.write_nnf, to_nnf(circuit));
      report.line(true, "written", fmt::format("the circuit, to {}", options.write_nnf.string()));
    }
  } else {
    report.line(true, "circuit", fmt::format("none within {:.0f} s (--seconds)", options.formula.seconds));
    if (!options.write_nnf.empty()) throw Error("--write: the formula did not compile, so there is no circuit");
  }
  if (formula && options.formula.as == FormulaAs::kConstraint) {
    std::optional<double> exact;
    if (compiled)
      exact = compiled->circuit.log_count(weights_of(compiled->circuit, *formula, *problem->facts().find<Cnf>()));
    count_by_sampling(report, *problem, *formula, exact, options);
  }
  for (const auto& finding : check_problem(*problem, options.seed))
    report.line(finding.good, finding.name, finding.words);
  if (const auto exact = pruner_exact(report.lines())) report.set("pruner_exact", *exact);
  return report;
}

}  // namespace anesi
