#include "anesi/tensors/observations.h"

#include <cmath>
#include <limits>

#include "anesi/core/space.h"
#include "anesi/formula/constraint.h"

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

Observations Observations::rows(const torch::Tensor& rows) const {
  const auto some = [&](const torch::Tensor& all) { return all.defined() ? all.index_select(0, rows) : all; };
  Observations result(some(outputs), some(holds));
  result.worlds = some(worlds);
  return result;
}

torch::Tensor Observations::rows_that_hold() const {
  if (!outputs.defined()) return torch::empty({0}, torch::kInt64);
  return holds.defined() ? holds.nonzero().squeeze(1) : torch::arange(size(), torch::kInt64);
}

torch::Tensor Observations::log_prob(const torch::Tensor& output_log_prob) const {
  if (!holds.defined()) return output_log_prob;
  return torch::where(holds, output_log_prob, log_one_minus_exp(output_log_prob));
}

torch::Tensor Observations::agree(const torch::Tensor& predicted) const {
  const auto same = (predicted == outputs).all(1);
  return holds.defined() ? same == holds : same;
}

torch::Tensor clamped(const torch::Tensor& beliefs, const torch::Tensor& known) {
  const auto said = (known != kUnset).unsqueeze(2);
  const auto certain = torch::zeros_like(beliefs).scatter_(2, known.clamp_min(0).unsqueeze(2), 1.0);
  return torch::where(said, certain, beliefs);
}

torch::Tensor known_log_prob(const torch::Tensor& beliefs, const torch::Tensor& known) {
  const auto said = known != kUnset;
  const auto share = beliefs.gather(2, known.clamp_min(0).unsqueeze(2)).squeeze(2);
  return torch::where(said, share, 1.0).log().sum(1);
}

Observations constrained_labels(torch::Tensor worlds) {
  Observations labels(torch::full({worlds.size(0), 1}, kSatisfied, torch::kInt64));
  labels.worlds = std::move(worlds);
  return labels;
}

}  // namespace anesi
