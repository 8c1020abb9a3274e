#include "anesi/data/dataset.h"

namespace anesi {

namespace {

torch::Tensor pixels_of(const torch::Tensor& pool, const torch::Tensor& images) {
  return pool.index_select(0, images).to(torch::kFloat32).div_(127.5).sub_(1);
}

}  // namespace

torch::Tensor Dataset::variables(const torch::Tensor& rows, const torch::Tensor& variables) const {
  return pixels_of(pool, index.view(-1).index_select(0, rows * index.size(1) + variables)).unsqueeze(1);
}

Batch Dataset::batch(const torch::Tensor& rows) const {
  const auto images = index.index_select(0, rows);  // [batch, images of an example]
  return {pixels_of(pool, images.view(-1)).view({rows.size(0), images.size(1), pool.size(1), pool.size(2)}),
          Observations(outputs.index_select(0, rows), holds.defined() ? holds.index_select(0, rows) : torch::Tensor()),
          worlds.index_select(0, rows)};
}

Batch Dataset::batch(std::int64_t begin, std::int64_t end) const {
  return batch(torch::arange(begin, end, torch::kInt64));
}

}  // namespace anesi
