// Watching a memory that was found: draws of mixed beliefs did not tell it from c, but perception may believe in worlds
// that those never came upon.
#pragma once

#include <torch/torch.h>

#include "anesi/train/knowledge.h"

namespace anesi {

// Gives a few worlds of beliefs that perception emitted, [batch, variables, domain], to c and to the memory that the
// knowledge's problem has (FoundFacts), as many as knowledge.watched says. Where they differ, the memory is found
// again, with those worlds among what it must be right on, and takes its place in the problem, q and loss.
void watch(Knowledge& knowledge, const torch::Tensor& beliefs);

// The same of worlds that were drawn already, int64 [worlds, variables].
void watch_worlds(Knowledge& knowledge, const torch::Tensor& worlds);
// As many worlds as are watched, of some of these beliefs.
torch::Tensor worlds_to_watch(const Knowledge& knowledge, const torch::Tensor& beliefs);

// Puts a memory that was found in the place of the one that is there.
void take_memory(Knowledge& knowledge, std::shared_ptr<const Problem> problem);

}  // namespace anesi
