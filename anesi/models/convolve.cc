#include "anesi/models/convolve.h"

#include <stdexcept>

namespace anesi {
namespace {

// Above so many, the zeros between pixels that no place of the kernel joins cost more than those around the image.
constexpr std::int64_t kFewPixels = 9;

// Along one side: for each pixel of the result and each of the image, which place of the kernel joins them (others than
// 0 to size - 1: none), [results, pixels].
torch::Tensor joins(std::int64_t pixels, std::int64_t size, std::int64_t stride) {
  const auto first = torch::arange(0, pixels, stride) - size / 2;
  return torch::arange(pixels) - first.unsqueeze(1);
}

}  // namespace

torch::Tensor convolve(torch::nn::Conv2d& convolution, const torch::Tensor& images) {
  const auto& kernel = convolution->weight;
  const auto size = kernel.size(2), stride = convolution->options.stride()->at(0);
  const auto* const padding = std::get_if<torch::ExpandingArray<2>>(&convolution->options.padding());
  if (kernel.size(3) != size || size % 2 == 0 || convolution->options.stride()->at(1) != stride || !padding ||
      (*padding)->at(0) != size / 2 || (*padding)->at(1) != size / 2 || convolution->options.bias()) {
    throw std::invalid_argument("convolve: not a square kernel of odd size, padded by half of it, without a bias");
  }
  if (images.size(2) * images.size(3) > kFewPixels) return convolution(images);

  const auto down = joins(images.size(2), size, stride), across = joins(images.size(3), size, stride);
  const auto height = down.size(0), width = across.size(0);
  const auto rows = down.view({height, 1, -1, 1}), columns = across.view({1, width, 1, -1});
  const auto inside = (rows >= 0) & (rows < size) & (columns >= 0) & (columns < size);
  const auto nothing = torch::full({}, size * size, torch::kInt64);
  const auto place = torch::where(inside, rows * size + columns, nothing).flatten().to(kernel.device());
  const auto matrix = torch::constant_pad_nd(kernel.flatten(2), {0, 1})
                          .index_select(2, place)
                          .view({kernel.size(0), kernel.size(1), height * width, -1})
                          .permute({2, 0, 3, 1})
                          .reshape({height * width * kernel.size(0), -1});
  return torch::linear(images.permute({0, 2, 3, 1}).flatten(1), matrix)
      .view({images.size(0), height, width, kernel.size(0)})
      .permute({0, 3, 1, 2});
}

}  // namespace anesi
