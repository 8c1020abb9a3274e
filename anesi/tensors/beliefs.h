// Beliefs: what perception says of a world.
//
// A belief P is one probability distribution for each world variable; p(w|P) is their product (section 2.1 of the
// paper). In code it is a float tensor [batch, variables, largest domain] whose rows sum to one and are zero past a
// variable's domain.
#pragma once

#include <torch/torch.h>

#include "anesi/core/space.h"

namespace anesi {

// Throws Error where beliefs are not such a tensor; names the first bad row, e.g.
// "beliefs: example 3, variable 7: not a number". Costs one pass over the data.
void check_beliefs(const torch::Tensor& beliefs, const Space& worlds);

// The belief that is certain of each world, int64 [batch, variables] -> float [batch, variables, largest domain].
torch::Tensor certain_beliefs(const torch::Tensor& worlds, const Space& space);

// Every value of every variable equally likely, [batch, variables, largest domain].
torch::Tensor uniform_beliefs(std::int64_t batch, const Space& space);

// One world from each belief, int64 [batch, variables].
torch::Tensor sample_worlds(const torch::Tensor& beliefs, at::Generator generator);

// argmax of p(w|P), int64 [batch, variables].
torch::Tensor most_likely_worlds(const torch::Tensor& beliefs);

// log p(w|P), [batch]; -inf where a world is impossible.
torch::Tensor world_log_prob(const torch::Tensor& beliefs, const torch::Tensor& worlds);

}  // namespace anesi
