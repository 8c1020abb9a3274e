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

// Its parts, for whoever asks c more seldom or has several processes that must grow alike:
// as many worlds as are watched, of some of these beliefs, int64 [worlds, variables];
torch::Tensor worlds_to_watch(const Knowledge& knowledge, const torch::Tensor& beliefs);
// those of them on which the memory and c differ;
torch::Tensor wrong_worlds(const Knowledge& knowledge, const torch::Tensor& worlds);
// and the memory found again with them. Where none is found, it stays, and is not watched any more.
void grow_memory(Knowledge& knowledge, const torch::Tensor& wrong);

// Puts a memory that was found in the place of the one that is there.
void take_memory(Knowledge& knowledge, std::shared_ptr<const Problem> problem);

}  // namespace anesi
