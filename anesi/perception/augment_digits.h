// Images slightly turned, stretched, slanted, shifted and bent, so that a network sees each digit in many hands.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "anesi/data/warp_images.h"

namespace anesi {

// As WarpRows has them.
struct Warps {
  torch::Tensor affine;   // float [n, 2, 3], for x and y: the matrix and the offset
  torch::Tensor elastic;  // float [n, 2, 5, 5], for x and y: displacements in pixels
};

Warps draw_warps(std::int64_t count, const AugmentOptions& options, at::Generator generator);

// Images are float [n, height, width] of any size; they are sampled bilinearly and displacements bicubically.
torch::Tensor warp_images(const torch::Tensor& images, const Warps& warps, double background);

// Changes each image of float [..., height, width] in its own way. The state of the generator decides the result,
// whatever the number of threads. An image of 28x28 takes about 4 microseconds of one core. No gradient flows through
// it. Throws UsageError where an option is negative or not finite, or a scale could be 0.
torch::Tensor augment_digits(const torch::Tensor& images, const AugmentOptions& options, at::Generator generator);

}  // namespace anesi
