#include "anesi/data/dataset.h"

namespace anesi {

Batch Dataset::batch(const torch::Tensor& rows) const {
  const auto images = index.index_select(0, rows);  // [batch, images of an example]
  const auto pixels = pool.index_select(0, images.view(-1)).to(torch::kFloat32).div_(127.5).sub_(1);
  return {pixels.view({rows.size(0), images.size(1), pool.size(1), pool.size(2)}), outputs.index_select(0, rows),
          worlds.index_select(0, rows)};
}

Batch Dataset::batch(std::int64_t begin, std::int64_t end) const {
  return batch(torch::arange(begin, end, torch::kInt64));
}

}  // namespace anesi
