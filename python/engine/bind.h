// The parts of anesi._engine, a file each.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/discover/distance_bound.h"
#include "anesi/exact/automaton.h"
#include "anesi/logic/cnf.h"

namespace anesi::python {

namespace nb = nanobind;

// A problem as Python holds it; facts are added by making another.
struct HeldProblem {
  std::shared_ptr<const Problem> problem;
};

struct HeldAutomaton {
  std::shared_ptr<const Automaton> automaton;
};

// (variables read, output emitted or None, kind), as Python says a step.
using Steps = std::vector<std::tuple<std::vector<std::int64_t>, std::optional<std::int64_t>, std::int64_t>>;
ReadingOrder reading_order(const Space& worlds, const Space& outputs, const Steps& steps);

// None, or a dictionary.
nb::object bound_of(const std::optional<DistanceBound>& bound);

void bind_facts(nb::module_& module);      // Automaton, Cnf
void bind_problem(nb::module_& module);    // Problem, formulas
void bind_discovery(nb::module_& module);  // discover, certify
void bind_backend(nb::module_& module);    // Backend
void bind_markov(nb::module_& module);     // Markov
void bind_files(nb::module_& module);      // safetensors, NPY
void bind_kernels(nb::module_& module);    // what learning spends its time in
void bind_search(nb::module_& module);     // most probable worlds, pruners, SAT
void bind_tasks(nb::module_& module);      // the built-in tasks

}  // namespace anesi::python
