#include "anesi/perception/augment_digits.h"

#include <numbers>
#include <utility>

namespace anesi {

Warps draw_warps(std::int64_t count, const AugmentOptions& options, at::Generator generator) {
  check_augmentation(options);
  const auto uniform = [&](std::int64_t numbers, double amount) {
    return torch::rand({numbers, count}, generator, torch::kFloat32).mul_(2 * amount).sub_(amount);
  };
  const torch::Tensor angle = uniform(1, options.rotation * std::numbers::pi / 180)[0];
  const torch::Tensor scale = uniform(2, options.scale).add_(1);
  const torch::Tensor shear = uniform(1, options.shear)[0];
  const torch::Tensor shift = uniform(2, options.shift);
  const torch::Tensor cosine = angle.cos();
  const torch::Tensor sine = angle.sin();
  // Stretched, then slanted, then turned.
  const torch::Tensor affine = torch::stack({cosine * scale[0], (cosine * shear - sine) * scale[1], shift[0],
                                             sine * scale[0], (sine * shear + cosine) * scale[1], shift[1]},
                                            1);
  return {affine.view({count, 2, 3}),
          torch::randn({count, 2, kElasticGrid, kElasticGrid}, generator, torch::kFloat32).mul_(options.elastic)};
}

torch::Tensor warp_images(const torch::Tensor& images, const Warps& warps, double background) {
  constexpr std::int64_t kLongestSide = 16'384;  // places in an image are 32-bit numbers
  TORCH_CHECK(images.dim() == 3 && images.scalar_type() == torch::kFloat32, "images are float [n, height, width]");
  const std::int64_t count = images.size(0);
  TORCH_CHECK(images.size(1) < kLongestSide && images.size(2) < kLongestSide, "images of ", images.sizes());
  TORCH_CHECK(warps.affine.numel() == count * kAffineNumbers && warps.elastic.numel() == count * kElasticNumbers,
              "as many warps as images");
  const torch::Tensor from = images.detach().cpu().contiguous();
  const torch::Tensor affine = warps.affine.to(torch::kFloat32).contiguous();
  const torch::Tensor elastic = warps.elastic.to(torch::kFloat32).contiguous();
  torch::Tensor result = torch::empty_like(from);
  if (result.numel() == 0) return result.to(images.device());
  const ImageSize size{static_cast<std::int32_t>(images.size(1)), static_cast<std::int32_t>(images.size(2))};
  warp_images(from.const_data_ptr<float>(), count, size,
              {affine.const_data_ptr<float>(), elastic.const_data_ptr<float>()}, background,
              result.mutable_data_ptr<float>());
  return result.to(images.device());
}

torch::Tensor augment_digits(const torch::Tensor& images, const AugmentOptions& options, at::Generator generator) {
  TORCH_CHECK(images.dim() >= 2, "images are [..., height, width]");
  const torch::Tensor flat = images.dim() == 2 ? images.unsqueeze(0) : images.flatten(0, -3);
  return warp_images(flat, draw_warps(flat.size(0), options, std::move(generator)), options.background)
      .view(images.sizes());
}

}  // namespace anesi
