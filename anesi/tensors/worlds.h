// Worlds to ask about (discover/worlds.h), from tensors.
#pragma once

#include <torch/torch.h>

#include "anesi/discover/worlds.h"

namespace anesi {

// Worlds of beliefs, [beliefs, variables, domain], that are chosen at random: what perception emits.
DrawWorlds worlds_of_beliefs(const torch::Tensor& beliefs);

}  // namespace anesi
