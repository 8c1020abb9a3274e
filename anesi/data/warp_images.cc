#include "anesi/data/warp_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"
#include "anesi/core/vectorized.h"

namespace anesi {
namespace {

constexpr std::int32_t kGrid = kElasticGrid;
constexpr std::int64_t kImagesPerTask = 16;

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

void check_augmentation(const AugmentOptions& options) {
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

void warp_images(const float* images, std::int64_t count, ImageSize size, const WarpRows& warps, double background,
                 float* result) {
  parallel_for(count, kImagesPerTask, [&](std::int64_t begin, std::int64_t end) {
    Warper warper(size, static_cast<float>(background));
    for (std::int64_t image = begin; image < end; ++image) {
      const std::int64_t first = image * size.height * size.width;
      warper.warp(images + first, warps.affine + image * kAffineNumbers, warps.elastic + image * kElasticNumbers,
                  result + first);
    }
  });
}

}  // namespace anesi
