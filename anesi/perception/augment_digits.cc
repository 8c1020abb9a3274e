#include "anesi/perception/augment_digits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"
#include "anesi/core/vectorized.h"

namespace anesi {
namespace {

constexpr std::int32_t kGrid = 5;  // points along each axis of the elastic grid
constexpr std::int64_t kAffineNumbers = 2 * 3;
constexpr std::int64_t kElasticNumbers = 2 * kGrid * kGrid;
constexpr std::int64_t kImagesPerTask = 16;

void check_options(const AugmentOptions& options) {
  const std::pair<const char*, double> amounts[] = {{"rotation", options.rotation},
                                                    {"scale", options.scale},
                                                    {"shear", options.shear},
                                                    {"shift", options.shift},
                                                    {"elastic", options.elastic}};
  for (const auto& [name, amount] : amounts) {
    if (!std::isfinite(amount) || amount < 0) {
      throw UsageError(fmt::format("{} {} of an image; it should be 0 or more", name, amount));
    }
  }
  if (options.scale >= 1) {
    throw UsageError(fmt::format("scale {} of an image; it should be below 1, or nothing is left", options.scale));
  }
}

// Cubic convolution with a = -1/2 (Keys, 1981): smooth, and exact at the points of the grid.
double cubic_weight(double distance) {
  distance = std::abs(distance);
  if (distance < 1) return (1.5 * distance - 2.5) * distance * distance + 1;
  if (distance < 2) return ((-0.5 * distance + 2.5) * distance - 4) * distance + 2;
  return 0;
}

// How much of each grid point a pixel along an axis takes, [grid, pixels]. Beyond its border the grid goes on as it
// ends.
std::vector<float> grid_weights(std::int32_t pixels) {
  std::vector<float> weights(static_cast<std::size_t>(kGrid * pixels));
  for (std::int32_t pixel = 0; pixel < pixels; ++pixel) {
    const double place = static_cast<double>(pixel * (kGrid - 1)) / std::max(pixels - 1, 1);
    const auto before = static_cast<std::int32_t>(place);
    for (std::int32_t point = before - 1; point <= before + 2; ++point) {
      const std::int32_t inside = std::clamp(point, 0, kGrid - 1);
      const auto place_in_weights = std::int64_t{inside} * pixels + pixel;
      weights[static_cast<std::size_t>(place_in_weights)] += static_cast<float>(cubic_weight(place - point));
    }
  }
  return weights;
}

struct ImageSize {
  std::int32_t height;
  std::int32_t width;
};

// One row of the result. The image comes with one pixel of background around it, so that a place outside needs no
// question: it is moved to that border. elastic_x and elastic_y are the grid of displacements at the height of the row.
ANESI_VECTORIZED void warp_row(const float* __restrict padded, ImageSize size, std::int32_t row, const float* affine,
                               const float* elastic_x, const float* elastic_y, const float* __restrict weights,
                               float* __restrict result) {
  const float middle_x = static_cast<float>(size.width - 1) / 2;
  const float middle_y = static_cast<float>(size.height - 1) / 2;
  const float y = static_cast<float>(row) - middle_y;
  const float start_x = affine[1] * y + affine[2] + middle_x + 1;  // 1 for the border
  const float start_y = affine[4] * y + affine[5] + middle_y + 1;
  const float last_x = static_cast<float>(size.width + 1);
  const float last_y = static_cast<float>(size.height + 1);
  const std::int32_t stride = size.width + 2;
  for (std::int32_t column = 0; column < size.width; ++column) {
    const float x = static_cast<float>(column) - middle_x;
    float from_x = affine[0] * x + start_x;
    float from_y = affine[3] * x + start_y;
    for (std::int32_t point = 0; point < kGrid; ++point) {
      const float weight = weights[point * size.width + column];
      from_x += weight * elastic_x[point];
      from_y += weight * elastic_y[point];
    }
    from_x = from_x > 0 ? (from_x < last_x ? from_x : last_x) : 0;
    from_y = from_y > 0 ? (from_y < last_y ? from_y : last_y) : 0;
    const auto left = std::min(static_cast<std::int32_t>(from_x), size.width);
    const auto top = std::min(static_cast<std::int32_t>(from_y), size.height);
    const float right_share = from_x - static_cast<float>(left);
    const float bottom_share = from_y - static_cast<float>(top);
    const std::int32_t corner = top * stride + left;
    const float above = padded[corner] * (1 - right_share) + padded[corner + 1] * right_share;
    const float below = padded[corner + stride] * (1 - right_share) + padded[corner + stride + 1] * right_share;
    result[column] = above * (1 - bottom_share) + below * bottom_share;
  }
}

// Bends images of one size, one at a time; every thread has its own.
class Warper {
 public:
  Warper(ImageSize size, float background)
      : size_(size),
        weights_down_(grid_weights(size.height)),
        weights_across_(grid_weights(size.width)),
        padded_((static_cast<std::size_t>(size.height) + 2) * (static_cast<std::size_t>(size.width) + 2), background) {}

  void warp(const float* image, const float* affine, const float* elastic, float* result) {
    for (std::int32_t row = 0; row < size_.height; ++row) {
      std::copy_n(image + row * size_.width, size_.width, padded_.data() + (row + 1) * (size_.width + 2) + 1);
    }
    for (std::int32_t row = 0; row < size_.height; ++row) {
      const auto elastic_x = grid_at(row, elastic);
      const auto elastic_y = grid_at(row, elastic + kGrid * kGrid);
      warp_row(padded_.data(), size_, row, affine, elastic_x.data(), elastic_y.data(), weights_across_.data(),
               result + row * size_.width);
    }
  }

 private:
  std::array<float, kGrid> grid_at(std::int32_t row, const float* grid) const {
    std::array<float, kGrid> line{};
    for (std::int32_t down = 0; down < kGrid; ++down) {
      const float weight = weights_down_[static_cast<std::size_t>(std::int64_t{down} * size_.height + row)];
      for (std::size_t across = 0; across < kGrid; ++across) line[across] += weight * *grid++;
    }
    return line;
  }

  ImageSize size_;
  std::vector<float> weights_down_;
  std::vector<float> weights_across_;
  std::vector<float> padded_;
};

}  // namespace

Warps draw_warps(std::int64_t count, const AugmentOptions& options, at::Generator generator) {
  check_options(options);
  const auto uniform = [&](std::int64_t numbers, double amount) {
    return torch::rand({numbers, count}, generator, torch::kFloat32).mul_(2 * amount).sub_(amount);
  };
  const torch::Tensor angle = uniform(1, options.rotation * std::numbers::pi / 180)[0];
  const torch::Tensor scale = uniform(2, options.scale).add_(1);
  const torch::Tensor shear = uniform(1, options.shear)[0];
  const torch::Tensor shift = uniform(2, options.shift);
  const torch::Tensor cosine = angle.cos();
  const torch::Tensor sine = angle.sin();
  // Stretched, then slanted, then turned.
  const torch::Tensor affine = torch::stack({cosine * scale[0], (cosine * shear - sine) * scale[1], shift[0],
                                             sine * scale[0], (sine * shear + cosine) * scale[1], shift[1]},
                                            1);
  return {affine.view({count, 2, 3}),
          torch::randn({count, 2, kGrid, kGrid}, generator, torch::kFloat32).mul_(options.elastic)};
}

torch::Tensor warp_images(const torch::Tensor& images, const Warps& warps, double background) {
  constexpr std::int64_t kLongestSide = 16'384;  // places in an image are 32-bit numbers
  TORCH_CHECK(images.dim() == 3 && images.scalar_type() == torch::kFloat32, "images are float [n, height, width]");
  const std::int64_t count = images.size(0);
  TORCH_CHECK(images.size(1) < kLongestSide && images.size(2) < kLongestSide, "images of ", images.sizes());
  TORCH_CHECK(warps.affine.numel() == count * kAffineNumbers && warps.elastic.numel() == count * kElasticNumbers,
              "as many warps as images");
  const torch::Tensor from = images.detach().cpu().contiguous();
  const torch::Tensor affine = warps.affine.to(torch::kFloat32).contiguous();
  const torch::Tensor elastic = warps.elastic.to(torch::kFloat32).contiguous();
  torch::Tensor result = torch::empty_like(from);
  if (result.numel() == 0) return result.to(images.device());
  const ImageSize size{static_cast<std::int32_t>(images.size(1)), static_cast<std::int32_t>(images.size(2))};
  const auto* from_at = from.const_data_ptr<float>();
  const auto* affine_at = affine.const_data_ptr<float>();
  const auto* elastic_at = elastic.const_data_ptr<float>();
  auto* result_at = result.mutable_data_ptr<float>();
  parallel_for(count, kImagesPerTask, [&](std::int64_t begin, std::int64_t end) {
    Warper warper(size, static_cast<float>(background));
    for (std::int64_t image = begin; image < end; ++image) {
      const std::int64_t first = image * size.height * size.width;
      warper.warp(from_at + first, affine_at + image * kAffineNumbers, elastic_at + image * kElasticNumbers,
                  result_at + first);
    }
  });
  return result.to(images.device());
}

torch::Tensor augment_digits(const torch::Tensor& images, const AugmentOptions& options, at::Generator generator) {
  TORCH_CHECK(images.dim() >= 2, "images are [..., height, width]");
  const torch::Tensor flat = images.dim() == 2 ? images.unsqueeze(0) : images.flatten(0, -3);
  return warp_images(flat, draw_warps(flat.size(0), options, std::move(generator)), options.background)
      .view(images.sizes());
}

}  // namespace anesi
