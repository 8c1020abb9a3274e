// A prior that never learns: Dirichlets with one concentration for every value.
//
// Small concentrations give beliefs near one-hot, 1 gives uniform ones over the simplex. Where what perception will
// emit is known roughly, this saves the fit and cannot follow perception into a wrong answer.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "anesi/core/space.h"
#include "anesi/priors/prior.h"

namespace anesi {

class FixedDirichlet : public BeliefPrior {
 public:
  // Throws UsageError where the concentration is not positive.
  FixedDirichlet(const Space& space, double concentration);

  torch::Tensor sample(std::int64_t count, at::Generator generator) override;

 private:
  torch::Tensor concentration_;  // [variables, domain], 0 past a variable's domain
};

}  // namespace anesi
