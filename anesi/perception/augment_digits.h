// Images slightly turned, stretched, slanted, shifted and bent, so that a network sees each digit in many hands.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace anesi {

// How far an image may be changed: each of the first four is drawn uniformly between minus and plus the number.
struct AugmentOptions {
  double rotation = 12;    // degrees
  double scale = 0.1;      // of each axis, around 1
  double shear = 0.15;     // pixels to the side a pixel of height
  double shift = 2;        // pixels, of each axis
  double elastic = 0.9;    // pixels, the standard deviation of the displacements of a 5x5 grid laid over the image
  double background = -1;  // what lies outside the image
};

// One way to bend each of n images. The result at the point p, in pixels from the middle of the image, x to the right
// and y downwards, shows what was at matrix p + offset + displacement(p). Displacements are given on a grid whose
// corners are those of the image.
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
