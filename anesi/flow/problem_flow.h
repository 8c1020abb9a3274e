// Flow networks of problems.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/flow/exact_flow.h"
#include "anesi/flow/flow_network.h"

namespace anesi {

// Applies c to every world at once, with nothing given. Throws Error where the problem is too large for that.
FlowNetwork make_flow_network(const Problem& problem, FlowView view);

// A belief as flows take it, from [variables, domain] with whatever past a variable's domain.
WorldBeliefs world_beliefs(const torch::Tensor& belief, const Space& worlds);

}  // namespace anesi
