#include "anesi/perception/pooled_relu.h"

#include "anesi/core/thread_pool.h"
#include "anesi/core/vectorized.h"

namespace anesi {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

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

class PooledRelu : public torch::autograd::Function<PooledRelu> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& images) {
    const auto height = images.size(2) / 2, width = images.size(3) / 2;
    const auto pooled = torch::empty({images.size(0), images.size(1), height, width}, images.options());
    const auto* const pixels = images.const_data_ptr<float>();
    auto* const out = pooled.mutable_data_ptr<float>();
    parallel_for(images.size(0) * images.size(1) * height, kRowsPerThread, [&](std::int64_t begin, std::int64_t end) {
      pool_rows(pixels + 4 * width * begin, end - begin, width, out + width * begin);
    });
    context->save_for_backward({images, pooled});
    return pooled;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto given = gradients[0].contiguous();
    const auto result = torch::empty_like(saved[0], torch::MemoryFormat::Contiguous);
    const auto width = given.size(3);
    const auto *const pixels = saved[0].const_data_ptr<float>(), *const pooled = saved[1].const_data_ptr<float>();
    const auto* const gradient = given.const_data_ptr<float>();
    auto* const out = result.mutable_data_ptr<float>();
    parallel_for(given.numel() / std::max<std::int64_t>(1, width), kRowsPerThread,
                 [&](std::int64_t begin, std::int64_t end) {
                   unpool_rows(pixels + 4 * width * begin, pooled + width * begin, gradient + width * begin,
                               end - begin, width, out + 4 * width * begin);
                 });
    return {result};
  }
};

}  // namespace

torch::Tensor pooled_relu(const torch::Tensor& images) {
  const bool is_plain = images.is_cpu() && images.scalar_type() == torch::kFloat32 && images.is_contiguous() &&
                        images.size(2) % 2 == 0 && images.size(3) % 2 == 0;
  return is_plain ? PooledRelu::apply(images) : torch::max_pool2d(images, 2).relu();
}

}  // namespace anesi
