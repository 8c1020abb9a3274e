#include "anesi/tensors/worlds.h"

namespace anesi {

DrawWorlds worlds_of_beliefs(const torch::Tensor& beliefs) {
  // Past a variable's domain beliefs are zero, so all domains may be taken for equally large.
  const auto logs = beliefs.detach().to(torch::kCPU, torch::kFloat64).log().contiguous();
  return worlds_of_beliefs({logs.const_data_ptr<double>(), logs.size(0), logs.size(1), logs.size(2)},
                           Space::uniform(logs.size(1), logs.size(2)));
}

}  // namespace anesi
