#include "anesi/train/cluster.h"

#include <limits>

namespace anesi {
namespace {

constexpr std::int64_t kClusteringRounds = 25;

}  // namespace

torch::Tensor cluster(const torch::Tensor& points, std::int64_t count, const at::Generator& generator) {
  auto centres = points.index_select(0, torch::randint(points.size(0), {1}, generator, torch::kInt64));
  while (centres.size(0) < count) {
    const auto far = torch::cdist(points, centres).amin(1).square() + std::numeric_limits<float>::min();
    centres = torch::cat({centres, points.index_select(0, torch::multinomial(far, 1, false, generator))});
  }
  for (std::int64_t round = 0; round < kClusteringRounds; ++round) {
    const auto nearest = torch::cdist(points, centres).argmin(1);
    const auto members = torch::one_hot(nearest, count).to(points.scalar_type());  // [n, count]
    const auto sizes = members.sum(0).unsqueeze(1);
    centres = torch::where(sizes > 0, members.t().mm(points) / sizes.clamp_min(1), centres);
  }
  return centres;
}

torch::Tensor nearest(const torch::Tensor& points, const torch::Tensor& centres) {
  return torch::cdist(points, centres).argmin(1);
}

}  // namespace anesi
