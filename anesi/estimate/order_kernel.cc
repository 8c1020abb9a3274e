#include "anesi/estimate/order_kernel.h"

#include <cmath>
#include <numbers>

#include "anesi/core/index.h"
#include "anesi/tensors/beliefs.h"

namespace anesi {
namespace {

// E[exp(-|x - y| / length)] over x ~ N(mean, deviation^2), [batch, rows]. Each side of y is an integral of its own; the
// scaled complementary error function keeps both finite.
torch::Tensor laplace_mean(const torch::Tensor& mean, const torch::Tensor& deviation, const torch::Tensor& others,
                           double length) {
  const auto off = (mean.unsqueeze(1) - others.unsqueeze(0)).abs();
  if (!deviation.requires_grad() && deviation.eq(0).all().item<bool>()) return (-off / length).exp();
  const auto spread = deviation.unsqueeze(1);
  const auto away = off / spread, ratio = spread / length;
  const double root = std::numbers::sqrt2;
  const auto far = 0.5 * (-0.5 * away.square()).exp() * torch::special::erfcx((ratio + away) / root);
  const auto inside = ratio - away;  // negative where y is far from the mean
  const auto is_far = inside.lt(0);
  const auto scaled = 0.5 * (-0.5 * away.square()).exp() * torch::special::erfcx(inside.clamp_min(0) / root);
  const auto plain =
      0.5 * (0.5 * ratio.square() - ratio * away).clamp_max(0).exp() * torch::erfc(inside.clamp_max(0) / root);
  return far + torch::where(is_far, plain, scaled);
}

double choose(std::int64_t all, std::int64_t some) {
  double ways = 1;
  for (std::int64_t k = 1; k <= some; ++k) ways *= static_cast<double>(all - some + k) / static_cast<double>(k);
  return ways;
}

}  // namespace

OrderKernel::OrderKernel(Sources sources, std::int64_t most_orders)
    : sources_(std::move(sources)),
      orders_(1 + std::min(most_orders, sources_.categoricals.variables() + sources_.normals)) {
  const auto& space = sources_.categoricals;
  if (space.variables() == 0) return;
  uniform_ = uniform_beliefs(1, space)[0].to(torch::kFloat64);
  std::vector<double> scales;
  for (const auto domain : space.domains()) {
    const auto values = static_cast<double>(domain);
    scales.push_back(domain > 1 ? std::sqrt(values / (values - 1)) : 0);
  }
  scale_ = torch::tensor(scales, torch::kFloat64).unsqueeze(1);
}

// Vectors whose products are the centred match: <features(z_i), features(z'_i)> = c_i.
torch::Tensor OrderKernel::features(const torch::Tensor& beliefs) const { return scale_ * (beliefs - uniform_); }

std::vector<torch::Tensor> OrderKernel::of_orders(const Parameters& parameters, const Draws& others,
                                                  double length) const {
  const auto variables = sources_.categoricals.variables(), all = variables + sources_.normals;
  const auto zero = torch::zeros({parameters.batch(), others.rows()}, torch::kFloat64);
  std::vector<torch::Tensor> sums(as_size(orders_), zero);
  sums[0] = torch::ones_like(zero);
  const auto add = [&](const torch::Tensor& match) {
    for (auto order = orders_ - 1; order > 0; --order) {
      sums[as_size(order)] = torch::addcmul(sums[as_size(order)], match, sums[as_size(order - 1)]);
    }
  };
  if (variables > 0) {
    const auto left = features(parameters.beliefs).transpose(0, 1);  // [variables, batch, domain]
    const auto right = features(certain_of(others, sources_).beliefs).permute({1, 2, 0});
    const auto matches = torch::bmm(left, right);  // [variables, batch, rows]
    for (std::int64_t variable = 0; variable < variables; ++variable) add(matches[variable]);
  }
  for (std::int64_t normal = 0; normal < sources_.normals; ++normal) {
    add(laplace_mean(parameters.mean.select(1, normal), parameters.deviation.select(1, normal),
                     others.real.select(1, normal), length));
  }
  for (std::int64_t order = 1; order < orders_; ++order)
    sums[as_size(order)] = sums[as_size(order)] / choose(all, order);
  return sums;
}

torch::Tensor OrderKernel::operator()(const Parameters& parameters, const Draws& others,
                                      const KernelShape& shape) const {
  const auto sums = of_orders(parameters, others, shape.length);
  auto result = shape.weights[0] * sums[0];
  for (std::size_t order = 1; order < sums.size(); ++order) result = result + shape.weights[order] * sums[order];
  return result;
}

}  // namespace anesi
