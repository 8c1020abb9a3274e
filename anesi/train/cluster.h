// Points sorted into clusters.
#pragma once

#include <torch/torch.h>

namespace anesi {

// Centres, [count, features], of clusters of points, [points, features]: k-means from centres that are drawn far apart
// (k-means++). Its time grows with points times the square of count.
torch::Tensor cluster(const torch::Tensor& points, std::int64_t count, const at::Generator& generator);

// Which centre is nearest to each point, int64 [points].
torch::Tensor nearest(const torch::Tensor& points, const torch::Tensor& centres);

}  // namespace anesi
