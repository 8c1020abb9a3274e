#include "anesi/perception/pooled_relu.h"

#include <span>

#include "anesi/kernels/pooling.h"

namespace anesi {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::span<const float> values_of(const torch::Tensor& tensor) {
  return {tensor.const_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

std::span<float> values_to(const torch::Tensor& tensor) {
  return {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

class PooledRelu : public torch::autograd::Function<PooledRelu> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& images) {
    const auto pooled =
        torch::empty({images.size(0), images.size(1), images.size(2) / 2, images.size(3) / 2}, images.options());
    pool_and_rectify(values_of(images), pooled.size(3), 1, values_to(pooled));
    context->save_for_backward({images, pooled});
    return pooled;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto given = gradients[0].contiguous();
    const auto result = torch::empty_like(saved[0], torch::MemoryFormat::Contiguous);
    gradient_of_pooling(values_of(saved[0]), values_of(saved[1]), values_of(given), given.size(3), 1,
                        values_to(result));
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
