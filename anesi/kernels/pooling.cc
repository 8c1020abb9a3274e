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

struct Squares {
  std::int64_t rows, width, channels;  // of the pooled values
};

// Two rows of pixels for each row of squares. Inlined with the number of channels known, if they are few: loops of six
// are vectorised then.
[[gnu::always_inline]] inline void pool_rows(const float* __restrict pixels, Squares squares,
                                             float* __restrict pooled) {
  const auto channels = squares.channels, row_size = squares.width * channels;
  for (std::int64_t row = 0; row < squares.rows; ++row) {
    for (std::int64_t at = 0; at < squares.width; ++at) {
      const float* const top = pixels + 4 * row_size * row + 2 * channels * at;
      const float* const bottom = top + 2 * row_size;
      float* const out = pooled + row_size * row + channels * at;
      for (std::int64_t c = 0; c < channels; ++c) {
        const float best = larger(larger(larger(top[c], top[channels + c]), bottom[c]), bottom[channels + c]);
        out[c] = best < 0 ? 0 : best;
      }
    }
  }
}

// The gradient goes to the first pixel of a square that is the pooled value, and nowhere if that is not above 0.
[[gnu::always_inline]] inline void unpool_rows(const float* __restrict pixels, const float* __restrict pooled,
                                               const float* __restrict gradient, Squares squares,
                                               float* __restrict result) {
  const auto channels = squares.channels, row_size = squares.width * channels;
  for (std::int64_t row = 0; row < squares.rows; ++row) {
    for (std::int64_t at = 0; at < squares.width; ++at) {
      const auto square = row_size * row + channels * at, corner = 4 * row_size * row + 2 * channels * at;
      const float* const top = pixels + corner;
      const float* const bottom = top + 2 * row_size;
      float* const result_top = result + corner;
      float* const result_bottom = result_top + 2 * row_size;
      for (std::int64_t c = 0; c < channels; ++c) {
        const float value = pooled[square + c];
        const float given = value > 0 ? gradient[square + c] : 0;
        const float first = top[c] == value ? given : 0;
        const float after_first = top[c] == value ? 0 : given;
        const float second = top[channels + c] == value ? after_first : 0;
        const float after_second = top[channels + c] == value ? 0 : after_first;
        const float third = bottom[c] == value ? after_second : 0;
        const float fourth = bottom[c] == value ? 0 : after_second;
        result_top[c] = first;
        result_top[channels + c] = second;
        result_bottom[c] = third;
        result_bottom[channels + c] = fourth;
      }
    }
  }
}

// Calls body with the number of channels as a constant where that is worth it.
template <typename Body>
[[gnu::always_inline]] inline void with_known_channels(Squares squares, Body body) {
  switch (squares.channels) {
    case 1:
      return body(Squares{squares.rows, squares.width, 1});
    case 6:
      return body(Squares{squares.rows, squares.width, 6});
    default:
      return body(squares);
  }
}

ANESI_VECTORIZED void pool(const float* pixels, Squares squares, float* pooled) {
  with_known_channels(
      squares, [&](Squares known) __attribute__((always_inline)) { pool_rows(pixels, known, pooled); });
}

ANESI_VECTORIZED void unpool(const float* pixels, const float* pooled, const float* gradient, Squares squares,
                             float* result) {
  with_known_channels(
      squares, [&](Squares known)
                   __attribute__((always_inline)) { unpool_rows(pixels, pooled, gradient, known, result); });
}

// body(first pooled value, squares) on rows that together are all.
template <typename Body>
void for_rows(std::span<const float> pooled, std::int64_t width, std::int64_t channels, Body body) {
  const auto row_size = width * channels;
  parallel_for(static_cast<std::int64_t>(pooled.size()) / std::max<std::int64_t>(1, row_size), kRowsPerThread,
               [&](std::int64_t begin, std::int64_t end) {
                 body(row_size * begin, Squares{end - begin, width, channels});
               });
}

}  // namespace

void pool_and_rectify(std::span<const float> pixels, std::int64_t width, std::int64_t channels,
                      std::span<float> pooled) {
  for_rows(pooled, width, channels, [&](std::int64_t first, Squares squares) {
    pool(pixels.data() + 4 * first, squares, pooled.data() + first);
  });
}

void gradient_of_pooling(std::span<const float> pixels, std::span<const float> pooled, std::span<const float> gradient,
                         std::int64_t width, std::int64_t channels, std::span<float> result) {
  for_rows(pooled, width, channels, [&](std::int64_t first, Squares squares) {
    unpool(pixels.data() + 4 * first, pooled.data() + first, gradient.data() + first, squares,
           result.data() + 4 * first);
  });
}

}  // namespace anesi
