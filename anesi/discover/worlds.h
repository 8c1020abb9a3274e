// Worlds to ask about.
#pragma once

#include <torch/torch.h>

#include <functional>

#include "anesi/core/space.h"

namespace anesi {

// Draws worlds, int64 [count, variables], each independent of the others.
using DrawWorlds = std::function<torch::Tensor(std::int64_t count, const at::Generator& generator)>;

// Worlds of beliefs that are themselves drawn from Dirichlet priors of mixed concentration, a belief for each world:
// half of them with a belief for each variable, which makes a uniform world, half with one belief that all variables of
// a domain share, which makes values repeat. Uniform worlds alone miss what is rare: that all of twenty digits are
// small, or equal.
torch::Tensor mixed_worlds(const Space& space, std::int64_t count, const at::Generator& generator);
DrawWorlds mixed_worlds_of(const Space& space);

// Worlds of beliefs, [beliefs, variables, domain], chosen at random: what perception emits.
DrawWorlds worlds_of_beliefs(torch::Tensor beliefs);

// Every value equally likely.
torch::Tensor uniform_worlds(const Space& space, std::int64_t count, const at::Generator& generator);

// The same worlds but for one variable, which takes another of its values in each; where it has only one, it stays.
torch::Tensor with_another_value(const torch::Tensor& worlds, std::int64_t variable, const Space& space,
                                 const at::Generator& generator);

}  // namespace anesi
