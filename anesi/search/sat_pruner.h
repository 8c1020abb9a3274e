// A pruner for any problem that gives a formula: asks a SAT solver whether a choice can be completed.
//
// Exact, and general, at the price of NP-hard questions. CaDiCaL's incremental interface keeps what it learnt from one
// question to the next; every thread that asks gets a solver of its own.
#pragma once

#include <memory>

#include "anesi/core/problem.h"
#include "anesi/core/pruner.h"
#include "anesi/logic/cnf.h"

namespace anesi {

// Throws Error where the problem gives no formula, where its formula has no model at all, or where anesi was built
// without CaDiCaL.
std::unique_ptr<Pruner> make_sat_pruner(const Problem& problem);
std::unique_ptr<Pruner> make_sat_pruner(const Cnf& cnf, const Space& worlds, const Space& outputs);

// Whether the formula has a model. Throws Error where anesi was built without CaDiCaL.
bool is_satisfiable(const Cnf& cnf);

}  // namespace anesi
