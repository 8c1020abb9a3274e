#include "anesi/check/formula_check.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "anesi/core/beliefs.h"
#include "anesi/core/error.h"
#include "anesi/options/option_table.h"
#include "anesi/core/seeded.h"
#include "anesi/exact/circuit_files.h"
#include "anesi/exact/circuit_inference.h"
#include "anesi/formula/constraint.h"
#include "anesi/io/files.h"

namespace anesi {
namespace {

bool is_circuit_file(const std::filesystem::path& file) {
  const auto ending = file.extension();
  return ending == ".nnf" || ending == ".ddnnf" || ending == ".sdd";
}

// Logarithms of the file's weights, 1 where it gives none.
Circuit::Weights weights_of(const Circuit& circuit, const Dimacs& formula) {
  Circuit::Weights weights(circuit.places(), 0);
  for (const auto& [literal, weight] : formula.weights) weights[circuit.place_of(literal)] = std::log(weight);
  return weights;
}

std::string in_powers_of_ten(double log) { return fmt::format("{:.4g} x 10^{:.0f}", std::exp(log - std::floor(log / std::log(10)) * std::log(10)), std::floor(log / std::log(10))); }

}  // namespace

CheckReport check_formula_file(const std::filesystem::path& file, const FormulaCheckOptions& options) {
  CheckReport report;
  std::optional<Dimacs> formula;
  if (!is_circuit_file(file)) {
    formula = read_dimacs(file);
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
  report.line(true, "problem",
              fmt::format("{}: {} world variables{}, {} outputs", name_of(options.formula.as),
                          problem->worlds().variables(),
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
      const auto log_count = circuit.log_count(weights_of(circuit, *formula));
      report.line(true, "weighted count", fmt::format("{} (its logarithm: {:.6f})", in_powers_of_ten(log_count), log_count));
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
  for (const auto& finding : check_problem(*problem, options.seed)) report.line(finding.good, finding.name, finding.words);
  if (const auto exact = pruner_exact(report.lines())) report.set("pruner_exact", *exact);
  return report;
}

}  // namespace anesi
