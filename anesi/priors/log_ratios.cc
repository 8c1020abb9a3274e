#include "anesi/priors/log_ratios.h"

#include <cmath>
#include <limits>

#include "anesi/priors/dirichlet.h"
#include "anesi/tensors/beliefs.h"

namespace anesi {

LogRatios::LogRatios(const Space& space) : outside_(uniform_beliefs(1, space) == 0) {
  std::int64_t columns = 0;
  for (const auto domain : space.domains()) columns += domain - 1;
  const auto width = space.largest_domain();
  basis_ = torch::zeros({space.variables() * width, columns}, torch::kFloat64);
  auto entries = basis_.accessor<double, 2>();
  std::int64_t column = 0;
  for (std::int64_t variable = 0; variable < space.variables(); ++variable) {
    for (std::int64_t value = 1; value < space.domain(variable); ++value, ++column) {
      // The values before this one against it.
      const auto before = static_cast<double>(value);
      const double share = 1 / std::sqrt(before * (before + 1));
      for (std::int64_t other = 0; other < value; ++other) entries[variable * width + other][column] = share;
      entries[variable * width + value][column] = -before * share;
    }
  }
}

torch::Tensor LogRatios::of(const torch::Tensor& beliefs) const {
  const auto logs = beliefs.detach().to(torch::kCPU, torch::kFloat64).clamp_min(FittedDirichlet::kSmallestBelief).log();
  return logs.flatten(1).mm(basis_);  // each column of the basis sums to 0, so the logarithms need no centring
}

torch::Tensor LogRatios::beliefs(const torch::Tensor& ratios) const {
  const auto logs = ratios.to(torch::kFloat64).mm(basis_.t()).view({-1, outside_.size(1), outside_.size(2)});
  return logs.masked_fill(outside_, -std::numeric_limits<double>::infinity()).softmax(2).to(torch::kFloat32);
}

}  // namespace anesi
