// Problems: functions in Python with what is known of them, and formulas.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "anesi/core/asked_output.h"
#include "anesi/core/error.h"
#include "anesi/core/output_tables.h"
#include "anesi/core/pruner.h"
#include "anesi/discover/cnf_check.h"
#include "anesi/exact/found_facts.h"
#include "anesi/formula/formula.h"
#include "anesi/logic/compiled_formula.h"
#include "anesi/options/value_named.h"
#include "arrays.h"
#include "bind.h"
#include "computing.h"

namespace anesi::python {
namespace {

using Domains = std::vector<std::int64_t>;

constexpr std::int64_t kAsked = 200;    // worlds on which what is declared is compared with the function
constexpr double kFewWorlds = 1 << 10;  // are all asked about

Gives<std::int64_t> apply_to_rows(const HeldProblem& held, const Reads<std::int64_t>& worlds, std::int64_t threads) {
  const auto outputs = compute(threads, [&] {
    const auto& space = held.problem->worlds();
    const auto rows = rows_of(worlds, space.variables(), "worlds");
    check_values(rows, space, {}, "worlds");
    return apply(*held.problem, rows);
  });
  return give(outputs);
}

std::string in_words(Values values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

// Throws UsageError, which names the world, unless the automaton says what the function does on some worlds.
void check_automaton(const Problem& problem, std::uint64_t seed) {
  const auto* const automaton = problem.facts().find<Automaton>();
  if (automaton == nullptr) return;
  const auto& worlds = problem.worlds();
  if (const auto complaint = automaton->reading().complaint(worlds, problem.outputs()); !complaint.empty()) {
    throw UsageError("automaton: " + complaint);
  }
  Random random(seed);
  const auto drawn = random_points(worlds, kAsked, random);
  const auto expected = apply(problem, drawn), said = automaton->run(drawn);
  const auto differing = differing_rows(expected, said);
  if (differing.empty()) return;
  const auto row = differing.front();
  throw UsageError(fmt::format("automaton: it gives {} for the world {}, and the function {}", in_words(said[row]),
                               in_words(drawn[row]), in_words(expected[row])));
}

// The same of a formula.
void check_formula(const Problem& problem, std::uint64_t seed) {
  const auto* const cnf = problem.facts().find<Cnf>();
  if (cnf == nullptr) return;
  const auto& worlds = problem.worlds();
  if (!cnf->encoding().fits(worlds, problem.outputs())) {
    throw UsageError("cnf: it is of other variables or domains than worlds and outputs");
  }
  Random random(seed);
  const auto asked = worlds.points() <= kFewWorlds ? all_points(worlds) : random_points(worlds, kAsked, random);
  const auto finding = check_cnf(problem, *cnf, asked, apply(problem, asked));
  if (!finding.good) throw UsageError("cnf: it " + finding.words);
}

template <typename Fact>
bool knows(const HeldProblem& held) {
  return held.problem->facts().find<Fact>() != nullptr;
}

nb::object automaton_of(const HeldProblem& held) {
  auto automaton = held.problem->facts().share<Automaton>();
  return automaton ? nb::cast(HeldAutomaton{std::move(automaton)}) : nb::none();
}

FormulaOptions formula_options(const std::string& as, std::vector<int> outputs, std::vector<int> given,
                               double seconds) {
  return {.as = value_named<FormulaAs>("as_", as),
          .outputs = std::move(outputs),
          .told = std::move(given),
          .seconds = seconds};
}

HeldProblem read_formula(const std::string& path, const std::string& as, std::vector<int> outputs,
                         std::vector<int> given, double seconds, const nb::object& warn) {
  const auto options = formula_options(as, std::move(outputs), std::move(given), seconds);
  return compute(0, [&, tell = say_to(warn)] { return HeldProblem{read_formula_problem(path, options, tell)}; });
}

HeldProblem parse_formula(const std::string& text, const std::string& as, std::vector<int> outputs,
                          std::vector<int> given, double seconds, const nb::object& warn) {
  const auto options = formula_options(as, std::move(outputs), std::move(given), seconds);
  return compute(0, [&, tell = say_to(warn)] {
    return HeldProblem{formula_problem(parse_dimacs(text, "clauses", tell), options)};
  });
}

template <typename Function>
void bind_formula(nb::module_& module, const char* name, const char* what, Function function) {
  module.def(name, function, nb::arg(what), nb::kw_only(), nb::arg("as_") = "constraint",
             nb::arg("outputs") = std::vector<int>(), nb::arg("given") = std::vector<int>(), nb::arg("seconds") = 5.0,
             nb::arg("warn") = nb::none());
}

}  // namespace

void bind_problem(nb::module_& module) {
  nb::class_<HeldProblem>(module, "Problem")
      .def(
          "__init__",
          [](HeldProblem* self, nb::callable function, const Domains& worlds, const Domains& outputs) {
            new (self) HeldProblem{std::make_shared<PythonProblem>(Space(worlds), Space(outputs), std::move(function))};
          },
          nb::arg("function"), nb::arg("worlds"), nb::arg("outputs"))
      .def_prop_ro("worlds", [](const HeldProblem& held) { return held.problem->worlds().domains(); })
      .def_prop_ro("outputs", [](const HeldProblem& held) { return held.problem->outputs().domains(); })
      .def_prop_ro("points", [](const HeldProblem& held) { return held.problem->worlds().points(); })
      .def("apply", &apply_to_rows, nb::arg("worlds"), nb::arg("threads") = 0)
      .def(
          "with_automaton",
          [](const HeldProblem& held, const HeldAutomaton& automaton) {
            return HeldProblem{with(held.problem, automaton.automaton)};
          },
          nb::arg("automaton"))
      .def(
          "with_cnf", [](const HeldProblem& held, const Cnf& cnf) { return HeldProblem{with(held.problem, cnf)}; },
          nb::arg("cnf"))
      .def(
          "with_reading_order",
          [](const HeldProblem& held, const Steps& steps) {
            const auto& problem = held.problem;
            return HeldProblem{with(problem, reading_order(problem->worlds(), problem->outputs(), steps))};
          },
          nb::arg("steps"))
      .def(
          "with_found",
          [](const HeldProblem& held, const nb::dict& facts, const std::string& summary) {
            return HeldProblem{with_found_facts(held.problem, arrays_of(facts), summary)};
          },
          nb::arg("facts"), nb::arg("summary") = "")
      .def_prop_ro("found", [](const HeldProblem& held) { return dict_of(found_facts_of(*held.problem)); })
      .def(
          "check",
          [](const HeldProblem& held, std::uint64_t seed, std::int64_t threads) {
            compute(threads, [&] {
              check_formula(*held.problem, seed);
              check_automaton(*held.problem, seed);
            });
          },
          nb::arg("seed") = 0, nb::arg("threads") = 0)
      .def_prop_ro("automaton", &automaton_of)
      .def_prop_ro("has_cnf", &knows<Cnf>)
      .def_prop_ro("has_tables", &knows<OutputTables>)
      .def_prop_ro("has_circuit", &knows<CompiledFormula>)
      .def_prop_ro("has_pruner", &knows<Pruner>)
      .def_prop_ro("asked", [](const HeldProblem& held) -> std::optional<std::vector<std::int64_t>> {
        const auto* const asked = held.problem->facts().find<AskedOutput>();
        return asked == nullptr ? std::nullopt : std::optional(asked->output);
      });
  bind_formula(module, "read_formula", "path", &read_formula);
  bind_formula(module, "parse_formula", "text", &parse_formula);
}

}  // namespace anesi::python
