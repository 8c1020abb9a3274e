#include "anesi/perception/augment_digits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "anesi/core/error.h"
#include "anesi/data/procedural_digits.h"
#include "anesi/tensors/arrays.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

torch::Tensor some_digits(std::int64_t count) {
  return tensor_of(render_digits(count, 3).images).to(torch::kFloat32).div_(127.5).sub_(1);
}

// Every image in the same way: x to x and so on, as in Warps.
Warps same_warp(std::int64_t count, const std::vector<float>& affine) {
  return {torch::tensor(affine).view({1, 2, 3}).expand({count, 2, 3}), torch::zeros({count, 2, 5, 5})};
}

TEST(AugmentDigits, ChangesNothingIfNothingIsAskedFor) {
  const torch::Tensor images = some_digits(20);
  AugmentOptions nothing{.rotation = 0, .scale = 0, .shear = 0, .shift = 0, .elastic = 0};
  EXPECT_TRUE(torch::equal(augment_digits(images, nothing, seeded(1)), images));
  const torch::Tensor odd = torch::randn({3, 2, 5, 8});
  EXPECT_TRUE(torch::equal(augment_digits(odd, nothing, seeded(1)), odd));
  const torch::Tensor one = torch::randn({1, 1});
  EXPECT_TRUE(torch::equal(augment_digits(one, nothing, seeded(1)), one));
  EXPECT_EQ(augment_digits(torch::empty({0, 4, 28, 28}), {}, seeded(1)).sizes(), (torch::IntArrayRef{0, 4, 28, 28}));
}

TEST(AugmentDigits, ShiftsByWholePixels) {
  const torch::Tensor images = torch::rand({4, 9, 7});
  const torch::Tensor shifted = warp_images(images, same_warp(4, {1, 0, 2, 0, 1, -3}), -5);
  torch::Tensor expected = torch::full({4, 9, 7}, -5.F);
  expected.slice(1, 3, 9).slice(2, 0, 5).copy_(images.slice(1, 0, 6).slice(2, 2, 7));
  EXPECT_TRUE(torch::allclose(shifted, expected, 0, 1e-6));
  const torch::Tensor outside = warp_images(images, same_warp(4, {1, 0, 1e6, 0, 1, -1e6}), -5);
  EXPECT_TRUE((outside == -5).all().item<bool>());
}

TEST(AugmentDigits, TurnsAroundTheMiddle) {
  const torch::Tensor images = torch::rand({4, 8, 8});
  const torch::Tensor turned = warp_images(images, same_warp(4, {0, -1, 0, 1, 0, 0}), -1);
  EXPECT_TRUE(torch::allclose(turned, images.rot90(1, {1, 2}), 0, 1e-6));
}

// A grid that moves every point alike is a shift; one that grows from side to side is a stretch.
TEST(AugmentDigits, BendsAlongTheGrid) {
  const torch::Tensor images = torch::rand({2, 9, 13});
  Warps warps = same_warp(2, {1, 0, 0, 0, 1, 0});
  warps.elastic.select(1, 0).fill_(3);
  EXPECT_TRUE(torch::allclose(warp_images(images, warps, 0), warp_images(images, same_warp(2, {1, 0, 3, 0, 1, 0}), 0),
                              0, 1e-5));
  warps.elastic.zero_();
  warps.elastic.select(1, 1).copy_(torch::arange(-2, 3).view({5, 1}));  // 9 rows: 0.5 a row but near the border
  const torch::Tensor stretched = warp_images(images, same_warp(2, {1, 0, 0, 0, 1.5, 0}), 0);
  EXPECT_TRUE(torch::allclose(warp_images(images, warps, 0).slice(1, 2, 7), stretched.slice(1, 2, 7), 0, 1e-5));
}

TEST(AugmentDigits, IsDecidedByTheSeed) {
  const torch::Tensor images = some_digits(100);
  const torch::Tensor changed = augment_digits(images, {}, seeded(7));
  EXPECT_TRUE(torch::equal(augment_digits(images, {}, seeded(7)), changed));
  EXPECT_TRUE(torch::equal(augment_digits(images.view({5, 20, 28, 28}), {}, seeded(7)).view({100, 28, 28}), changed));
  EXPECT_FALSE(torch::allclose(augment_digits(images, {}, seeded(8)), changed));
  const int threads = torch::get_num_threads();
  torch::set_num_threads(threads == 1 ? 3 : 1);
  EXPECT_TRUE(torch::equal(augment_digits(images, {}, seeded(7)), changed));
  torch::set_num_threads(threads);
}

TEST(AugmentDigits, KeepsTheInk) {
  const torch::Tensor images = some_digits(2000);
  const torch::Tensor changed = augment_digits(images, {}, seeded(1));
  EXPECT_GE(changed.min().item<double>(), -1 - 1e-6);
  EXPECT_LE(changed.max().item<double>(), 1 + 1e-6);
  const double ink = (images + 1).mean().item<double>();
  EXPECT_NEAR((changed + 1).mean().item<double>(), ink, 0.05 * ink);
  EXPECT_GT((changed - images).abs().mean().item<double>(), 0.25 * ink);  // but elsewhere
}

TEST(AugmentDigits, DrawsWithinTheOptions) {
  const Warps warps = draw_warps(5000, {.rotation = 30, .scale = 0, .shear = 0, .shift = 4, .elastic = 2}, seeded(1));
  const torch::Tensor sine = warps.affine.select(1, 1).select(1, 0);
  EXPECT_NEAR(sine.max().item<double>(), 0.5, 0.005);
  EXPECT_NEAR(sine.min().item<double>(), -0.5, 0.005);
  const torch::Tensor shift = warps.affine.select(2, 2);
  EXPECT_NEAR(shift.max().item<double>(), 4, 0.02);
  EXPECT_NEAR(shift.std().item<double>(), 4 / std::numbers::sqrt3, 0.05);
  EXPECT_NEAR(warps.elastic.std().item<double>(), 2, 0.05);
}

TEST(AugmentDigits, RefusesOptionsThatMakeNoSense) {
  const torch::Tensor images = torch::zeros({1, 28, 28});
  EXPECT_THROW(augment_digits(images, {.rotation = -1}, seeded(1)), UsageError);
  EXPECT_THROW(augment_digits(images, {.scale = 1}, seeded(1)), UsageError);
  EXPECT_THROW(augment_digits(images, {.elastic = std::numeric_limits<double>::infinity()}, seeded(1)), UsageError);
}

}  // namespace
}  // namespace anesi
