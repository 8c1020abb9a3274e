#include "anesi/data/dataset.h"

#include <numeric>

#include "anesi/core/thread_pool.h"

namespace anesi {

namespace {

torch::Tensor pixels_of(const torch::Tensor& pool, const torch::Tensor& images) {
  return pool.index_select(0, images).to(torch::kFloat32).div_(127.5).sub_(1);
}

// A sum that changes when values change places.
std::int64_t checksum(const torch::Tensor& values) {
  const auto flat = values.reshape({-1}).to(torch::kInt64);
  return (flat * torch::arange(1, flat.numel() + 1, torch::kInt64)).sum().item<std::int64_t>();
}

// The sum of each image's pixels, int64 [images]. Torch's own sum would first write all pixels down in eight bytes
// each.
torch::Tensor sums_of_images(const torch::Tensor& pool) {
  const auto whole = pool.contiguous();
  const auto images = whole.size(0), size = images == 0 ? 0 : whole.numel() / images;
  auto sums = torch::empty({images}, torch::kInt64);
  const auto* const pixels = whole.const_data_ptr<std::uint8_t>();
  auto* const result = sums.mutable_data_ptr<std::int64_t>();
  parallel_for(images, 1000, [&](std::int64_t begin, std::int64_t end) {
    for (auto image = begin; image < end; ++image) {
      result[image] = std::accumulate(pixels + image * size, pixels + (image + 1) * size, std::int64_t{0});
    }
  });
  return sums;
}

}  // namespace

torch::Tensor Dataset::rows_that_hold() const {
  return holds.defined() ? holds.nonzero().squeeze(1) : torch::arange(size(), torch::kInt64);
}

torch::Tensor Dataset::variables(const torch::Tensor& rows, const torch::Tensor& variables) const {
  return pixels_of(pool, index.view(-1).index_select(0, rows * index.size(1) + variables)).unsqueeze(1);
}

Batch Dataset::batch(const torch::Tensor& rows) const {
  const auto images = index.index_select(0, rows);  // [batch, images of an example]
  std::vector<std::int64_t> shape{rows.size(0), images.size(1)};
  shape.insert(shape.end(), pool.sizes().begin() + 1, pool.sizes().end());
  return {pixels_of(pool, images.view(-1)).view(shape),
          Observations(outputs.index_select(0, rows), holds.defined() ? holds.index_select(0, rows) : torch::Tensor()),
          worlds.index_select(0, rows)};
}

Batch Dataset::batch(std::int64_t begin, std::int64_t end) const {
  return batch(torch::arange(begin, end, torch::kInt64));
}

std::vector<std::int64_t> fingerprint(const Splits& data) {
  std::vector<std::int64_t> numbers;
  for (const auto* split : {&data.train, &data.validation, &data.test}) {
    numbers.push_back(split->size());
    if (split->size() == 0) continue;
    numbers.push_back(checksum(sums_of_images(split->pool)));
    numbers.push_back(checksum(split->index));
    numbers.push_back(checksum(split->outputs));
    numbers.push_back(split->holds.defined() ? checksum(split->holds) : 0);
  }
  return numbers;
}

}  // namespace anesi
