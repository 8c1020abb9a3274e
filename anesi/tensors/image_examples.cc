#include "anesi/tensors/image_examples.h"

#include <fmt/format.h>

#include <numeric>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"
#include "anesi/io/idx.h"
#include "anesi/tensors/arrays.h"

namespace anesi {
namespace {

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

torch::Tensor as_pixels(const torch::Tensor& images) {
  return images.to(torch::kFloat32, /*non_blocking=*/false, /*copy=*/true).div_(127.5).sub_(1);
}

torch::Tensor ImageExamples::inputs(const torch::Tensor& rows) const {
  const auto images = index_.index_select(0, rows);  // [batch, images of an example]
  std::vector<std::int64_t> shape{rows.size(0), images.size(1)};
  shape.insert(shape.end(), pool_.sizes().begin() + 1, pool_.sizes().end());
  return as_pixels(pool_.index_select(0, images.view(-1))).view(shape);
}

torch::Tensor ImageExamples::inputs_of(const torch::Tensor& rows, const torch::Tensor& variables) const {
  const auto images = index_.view(-1).index_select(0, rows * index_.size(1) + variables);
  return as_pixels(pool_.index_select(0, images)).unsqueeze(1);
}

std::vector<std::int64_t> ImageExamples::fingerprint_of_inputs() const {
  return {checksum(sums_of_images(pool_)), checksum(index_)};
}

torch::Tensor read_image_example(const std::filesystem::path& path, std::int64_t images, const std::string& order) {
  const auto read = tensor_of(read_idx(path));
  if (read.dim() != 3 || read.size(0) != images || read.size(1) != 28 || read.size(2) != 28) {
    throw UsageError(fmt::format("{}: expected {} images of 28x28 (an IDX file, {})", path.string(), images, order));
  }
  return as_pixels(read).unsqueeze(0);
}

}  // namespace anesi
