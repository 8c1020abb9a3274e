// Beliefs that are certain of a world, every world equally likely.
//
// For a q that is multilinear in the beliefs, being right on these makes it right on all beliefs, so nothing else needs
// to be sampled. For a neural q it is a poor teacher: it never shows a doubtful belief.
#pragma once

#include <torch/torch.h>

#include "anesi/core/space.h"
#include "anesi/priors/prior.h"

namespace anesi {

class CertainBeliefs : public BeliefPrior {
 public:
  explicit CertainBeliefs(Space space) : space_(std::move(space)) {}
  torch::Tensor sample(std::int64_t count, at::Generator generator) override;

 private:
  Space space_;
};

}  // namespace anesi
