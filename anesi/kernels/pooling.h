// Max-pooling over 2x2 squares followed by a rectifier: what stands after each convolution of a small network.
//
// Rows of pixels stand one after another; they have an even number of pixels and are an even number, so a batch of
// images is one high image. A pixel is so many channels that stand beside each other: all of an image's, or one where
// each channel has its own image. `width` is that of a pooled row, half a row of pixels. One pass over the pixels.
#pragma once

#include <cstdint>
#include <span>

namespace anesi {

// The largest of each square, 0 if that is below. A square with a NaN becomes NaN.
void pool_and_rectify(std::span<const float> pixels, std::int64_t width, std::int64_t channels,
                      std::span<float> pooled);

// The derivative by the pixels, from that by the pooled values: it goes to the first pixel of a square that is the
// pooled value, and nowhere if that is not above 0.
void gradient_of_pooling(std::span<const float> pixels, std::span<const float> pooled, std::span<const float> gradient,
                         std::int64_t width, std::int64_t channels, std::span<float> result);

}  // namespace anesi
