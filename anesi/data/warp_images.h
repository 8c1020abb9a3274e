// Images slightly turned, stretched, slanted, shifted and bent, in ways that somebody else draws.
#pragma once

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

// Throws UsageError if an option is negative or not finite, or a scale could be 0.
void check_augmentation(const AugmentOptions& options);

inline constexpr std::int32_t kElasticGrid = 5;  // points along each axis of the elastic grid
inline constexpr std::int64_t kAffineNumbers = 2 * 3;
inline constexpr std::int64_t kElasticNumbers = 2 * kElasticGrid * kElasticGrid;

struct ImageSize {
  std::int32_t height;
  std::int32_t width;
};

// One way to bend each of n images. The result at the point p, in pixels from the middle of the image, x to the right
// and y downwards, shows what was at matrix p + offset + displacement(p). Displacements are given on a grid whose
// corners are those of the image.
struct WarpRows {
  const float* affine;   // [n, 2, 3], for x and y: the matrix and the offset
  const float* elastic;  // [n, 2, 5, 5], for x and y: displacements in pixels
};

// Images [count, height, width] are sampled bilinearly and displacements bicubically. An image of 28x28 takes about 4
// microseconds of one core.
void warp_images(const float* images, std::int64_t count, ImageSize size, const WarpRows& warps, double background,
                 float* result);

}  // namespace anesi
