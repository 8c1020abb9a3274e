#include "anesi/core/observations.h"

#include <cmath>
#include <limits>

namespace anesi {
namespace {

// log(1 - e^x) for x <= 0, without the loss of digits at either end (Mächler 2012). An x so near zero that 1 - e^x is
// nothing in its type is moved to where it is something, gradient and all: the loss stays finite and pushes hard.
torch::Tensor log_one_minus_exp(const torch::Tensor& x) {
  const double nearest = x.scalar_type() == torch::kFloat64 ? std::numeric_limits<double>::epsilon()
                                                            : std::numeric_limits<float>::epsilon();
  const auto below = x - (x + nearest).clamp_min(0).detach();
  const auto near = below > -std::log(2.0);
  // Each branch is given values that suit it, so that neither brings NaN into the other's gradient.
  return torch::where(near, (-torch::expm1(below.where(near, -1.0))).log(),
                      torch::log1p(-below.where(near.logical_not(), -1.0).exp()));
}

}  // namespace

torch::Tensor Observations::log_prob(const torch::Tensor& output_log_prob) const {
  if (!holds.defined()) return output_log_prob;
  return torch::where(holds, output_log_prob, log_one_minus_exp(output_log_prob));
}

torch::Tensor Observations::agree(const torch::Tensor& predicted) const {
  const auto same = (predicted == outputs).all(1);
  return holds.defined() ? same == holds : same;
}

}  // namespace anesi
