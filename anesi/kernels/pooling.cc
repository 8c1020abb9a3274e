#include "anesi/kernels/pooling.h"

#include <algorithm>

#include "anesi/core/thread_pool.h"
#include "anesi/core/vectorized.h"

namespace anesi {
namespace {

constexpr std::int64_t kRowsPerThread = 20000;

// Of two, the first where they are equal; what is not a number stays that, and goes before all others.
inline float larger(float first, float second) {
  return static_cast<int>(second > first) | static_cast<int>(second != second) ? second : first;
}

// Rows of squares that follow each other, two rows of pixels each; `width` is of the result.
ANESI_VECTORIZED void pool_rows(const float* __restrict pixels, std::int64_t rows, std::int64_t width,
                                float* __restrict pooled) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* const top = pixels + 4 * width * row;
    const float* const bottom = top + 2 * width;
    for (std::int64_t at = 0; at < width; ++at) {
      const float best = larger(larger(larger(top[2 * at], top[2 * at + 1]), bottom[2 * at]), bottom[2 * at + 1]);
      pooled[width * row + at] = best < 0 ? 0 : best;
    }
  }
}

// The gradient goes to the first pixel of a square that is the pooled value, and nowhere where that is not above 0.
ANESI_VECTORIZED void unpool_rows(const float* __restrict pixels, const float* __restrict pooled,
                                  const float* __restrict gradient, std::int64_t rows, std::int64_t width,
                                  float* __restrict result) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* const top = pixels + 4 * width * row;
    const float* const bottom = top + 2 * width;
    float* const result_top = result + 4 * width * row;
    float* const result_bottom = result_top + 2 * width;
    for (std::int64_t at = 0; at < width; ++at) {
      const float value = pooled[width * row + at];
      const float given = value > 0 ? gradient[width * row + at] : 0;
      const float first = top[2 * at] == value ? given : 0;
      const float after_first = top[2 * at] == value ? 0 : given;
      const float second = top[2 * at + 1] == value ? after_first : 0;
      const float after_second = top[2 * at + 1] == value ? 0 : after_first;
      const float third = bottom[2 * at] == value ? after_second : 0;
      const float fourth = bottom[2 * at] == value ? 0 : after_second;
      result_top[2 * at] = first;
      result_top[2 * at + 1] = second;
      result_bottom[2 * at] = third;
      result_bottom[2 * at + 1] = fourth;
    }
  }
}

// body(begin, end) on rows of squares that together are all.
template <typename Body>
void for_rows(std::span<const float> pooled, std::int64_t width, Body body) {
  parallel_for(static_cast<std::int64_t>(pooled.size()) / std::max<std::int64_t>(1, width), kRowsPerThread, body);
}

}  // namespace

void pool_and_rectify(std::span<const float> pixels, std::int64_t width, std::span<float> pooled) {
  for_rows(pooled, width, [&](std::int64_t begin, std::int64_t end) {
    pool_rows(pixels.data() + 4 * width * begin, end - begin, width, pooled.data() + width * begin);
  });
}

void gradient_of_pooling(std::span<const float> pixels, std::span<const float> pooled, std::span<const float> gradient,
                         std::int64_t width, std::span<float> result) {
  for_rows(pooled, width, [&](std::int64_t begin, std::int64_t end) {
    unpool_rows(pixels.data() + 4 * width * begin, pooled.data() + width * begin, gradient.data() + width * begin,
                end - begin, width, result.data() + 4 * width * begin);
  });
}

}  // namespace anesi
