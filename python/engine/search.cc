// What a q that learns needs besides samples of the function: search for worlds, the pruner's masks, the reading order;
// and of formulas a solver, and what is saved of them.
#include "anesi/search/most_probable_worlds.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/pruner.h"
#include "anesi/core/reading_order.h"
#include "anesi/exact/found_facts.h"
#include "anesi/exact/saved_formula.h"
#include "anesi/formula/constraint.h"
#include "anesi/formula/formula.h"
#include "anesi/logic/compiled_formula.h"
#include "arrays.h"
#include "bind.h"
#include "computing.h"

namespace anesi::python {
namespace {

using Whole = Reads<std::int64_t>;

// The most probable world that gives each output, and how many nats it costs against the most probable one of all;
// kUnset and infinity if none was found. Whether it is proven that none is better.
nb::tuple most_probable(const HeldProblem& held, const Reads<double>& logs, const Whole& outputs, double nats,
                        std::int64_t nodes, std::int64_t threads) {
  const auto& problem = *held.problem;
  const auto rows = beliefs_of(logs, problem.worlds(), "logs");
  const auto found = compute(threads, [&] {
    const auto wanted = rows_of(outputs, problem.outputs().variables(), "outputs");
    if (wanted.size() != rows.size) throw UsageError("outputs: one for each example is expected");
    check_values(wanted, problem.outputs(), {.end = true, .unset = true}, "outputs");
    return most_probable_worlds(problem, {rows, wanted}, {.nats = nats, .nodes = nodes});
  });
  const auto variables = as_size(problem.worlds().variables());
  std::vector<std::int64_t> worlds;
  std::vector<double> gaps;
  nb::list proven;
  for (const auto& row : found) {
    if (row.world.empty()) {
      worlds.insert(worlds.end(), variables, kUnset);
    } else {
      worlds.insert(worlds.end(), row.world.begin(), row.world.end());
    }
    gaps.push_back(row.gap);
    proven.append(row.proven);
  }
  return nb::make_tuple(give(std::move(worlds), {found.size(), variables}), give(std::move(gaps), {found.size()}),
                        proven);
}

const Pruner& pruner_of(const Problem& problem) {
  const auto* const pruner = problem.facts().find<Pruner>();
  if (pruner == nullptr) throw UsageError("this problem has no pruner");
  return *pruner;
}

// Calls ask(row, mask) for each of these rows; the masks as bool [rows, domain].
template <typename Ask>
Gives<bool> masks(std::int64_t size, std::int64_t domain, std::int64_t threads, Ask ask) {
  const auto cells = as_size(size * domain);
  auto* const kept = new bool[cells]();
  const nb::capsule owner(kept, [](void* mask) noexcept { delete[] static_cast<bool*>(mask); });
  compute(threads, [&] {
    for (std::int64_t row = 0; row < size; ++row) ask(row, Mask(kept + row * domain, as_size(domain)));
  });
  const std::vector<std::size_t> shape{as_size(size), as_size(domain)};
  return Gives<bool>(kept, shape.size(), shape.data(), owner);
}

void require_variable(std::int64_t variable, const Space& space) {
  if (variable < 0 || variable >= space.variables()) throw UsageError("variable: there is no such variable");
}

Gives<bool> allow_outputs(const HeldProblem& held, const Whole& chosen, std::int64_t variable, std::int64_t threads) {
  const auto& space = held.problem->outputs();
  require_variable(variable, space);
  const auto rows = rows_of(chosen, space.variables(), "chosen");
  check_values(rows, space, {.end = true, .unset = true}, "chosen");
  const auto& pruner = pruner_of(*held.problem);
  return masks(rows.size(), space.domain(variable), threads,
               [&](std::int64_t row, Mask mask) { pruner.allow_outputs(rows[row], variable, mask); });
}

Gives<bool> allow_worlds(const HeldProblem& held, const Whole& outputs, const Whole& chosen, std::int64_t variable,
                         std::int64_t threads) {
  const auto& space = held.problem->worlds();
  require_variable(variable, space);
  const auto rows = rows_of(chosen, space.variables(), "chosen");
  const auto wanted = rows_of(outputs, held.problem->outputs().variables(), "outputs");
  if (wanted.size() != rows.size()) throw UsageError("outputs: one for each row is expected");
  check_values(rows, space, {.unset = true}, "chosen");
  check_values(wanted, held.problem->outputs(), {.end = true, .unset = true}, "outputs");
  const auto& pruner = pruner_of(*held.problem);
  return masks(rows.size(), space.domain(variable), threads,
               [&](std::int64_t row, Mask mask) { pruner.allow_worlds(wanted[row], rows[row], variable, mask); });
}

// (variables read, output emitted or None, kind) of each step, or None if nothing is known of an order.
nb::object reading_steps(const HeldProblem& held) {
  const auto* const order = held.problem->facts().find<ReadingOrder>();
  if (order == nullptr) return nb::none();
  nb::list steps;
  for (const auto& step : order->steps()) steps.append(nb::make_tuple(step.reads, step.emits, step.kind));
  return steps;
}

// The problem's formula as arrays for with_found(); of one that is too large, only that there was one.
nb::dict saved_formula(const HeldProblem& held) {
  NamedArrays arrays;
  compute(0, [&] { save_formula(*held.problem, arrays); });
  return dict_of(arrays);
}

// The function that a formula is, which was saved as such facts; None if they have none.
std::optional<HeldProblem> problem_of_formula(const HeldProblem& held) {
  return compute(0, [&]() -> std::optional<HeldProblem> {
    const auto& facts = held.problem->facts();
    const auto compiled = facts.share<CompiledFormula>();
    if (compiled && compiled->encoding.is_constraint()) return HeldProblem{make_constraint(compiled)};
    const auto* const cnf = facts.find<Cnf>();
    if (cnf == nullptr) return std::nullopt;
    return HeldProblem{formula_problem(*cnf, /*seconds=*/0)};
  });
}

}  // namespace

void bind_search(nb::module_& module) {
  module.def("most_probable_worlds", &most_probable, nb::arg("problem"), nb::arg("logs").noconvert(),
             nb::arg("outputs"), nb::kw_only(), nb::arg("nats") = SearchLimits().nats,
             nb::arg("nodes") = SearchLimits().nodes, nb::arg("threads") = 0);
  module.def("allow_outputs", &allow_outputs, nb::arg("problem"), nb::arg("chosen"), nb::arg("variable"), nb::kw_only(),
             nb::arg("threads") = 0);
  module.def("allow_worlds", &allow_worlds, nb::arg("problem"), nb::arg("outputs"), nb::arg("chosen"),
             nb::arg("variable"), nb::kw_only(), nb::arg("threads") = 0);
  module.def("reading_steps", &reading_steps, nb::arg("problem"));
  module.def("saved_formula", &saved_formula, nb::arg("problem"));
  module.def("problem_of_formula", &problem_of_formula, nb::arg("problem"));
}

}  // namespace anesi::python
