#include "anesi/builtin/operators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "anesi/core/index.h"
#include "anesi/data/warp_images.h"

namespace anesi {
namespace {

constexpr std::int32_t kSide = 28;

struct Stroke {
  double from_x, from_y, to_x, to_y;
};

double distance_to(const Stroke& stroke, double x, double y) {
  const double dx = stroke.to_x - stroke.from_x, dy = stroke.to_y - stroke.from_y;
  const double along = ((x - stroke.from_x) * dx + (y - stroke.from_y) * dy) / (dx * dx + dy * dy);
  const double nearest = std::clamp(along, 0.0, 1.0);
  return std::hypot(x - stroke.from_x - nearest * dx, y - stroke.from_y - nearest * dy);
}

// Draws of the Mersenne Twister, as the versions before made them with another library: the same seed gives the same
// images, but for some pixels that were rounded to the next level.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(static_cast<std::uint32_t>(seed)) {}

  // From [0, 1), in steps of 2^-24.
  std::vector<float> uniform(std::size_t count) {
    std::vector<float> drawn(count);
    for (auto& one : drawn) one = static_cast<float>(random_() & 0xffffffU) * 0x1p-24F;
    return drawn;
  }
  // From -amount to amount.
  std::vector<float> uniform(std::size_t count, double amount) {
    auto drawn = uniform(count);
    for (auto& one : drawn) one = one * static_cast<float>(2 * amount) - static_cast<float>(amount);
    return drawn;
  }
  // By Box and Muller, from two sets of eight at a time; the last sixteen anew if others are left over.
  std::vector<float> normal(std::size_t count) {
    auto drawn = uniform(count);
    for (std::size_t begin = 0; begin + kAtOnce <= count; begin += kAtOnce) make_normal(drawn.data() + begin);
    if (count % kAtOnce == 0) return drawn;
    auto last = uniform(kAtOnce);
    make_normal(last.data());
    std::ranges::copy(last, drawn.end() - std::ssize(last));
    return drawn;
  }

 private:
  static constexpr std::size_t kAtOnce = 16;

  static void make_normal(float* drawn) {
    for (std::size_t place = 0; place < kAtOnce / 2; ++place) {
      const double radius = std::sqrt(-2 * std::log(1 - static_cast<double>(drawn[place])));
      const double angle = 2 * std::numbers::pi * static_cast<double>(drawn[place + kAtOnce / 2]);
      drawn[place] = static_cast<float>(radius * std::cos(angle));
      drawn[place + kAtOnce / 2] = static_cast<float>(radius * std::sin(angle));
    }
  }

  std::mt19937 random_;
};

// Each image of [count, side, side] bent in its own way.
std::vector<float> bent(const std::vector<float>& images, std::size_t count, std::uint64_t seed) {
  const AugmentOptions options;
  Draws draws(seed);
  const auto angles = draws.uniform(count, options.rotation * std::numbers::pi / 180);
  const auto scales = draws.uniform(2 * count, options.scale);
  const auto shears = draws.uniform(count, options.shear);
  const auto shifts = draws.uniform(2 * count, options.shift);
  std::vector<float> affine;
  for (std::size_t image = 0; image < count; ++image) {
    const float cosine = std::cos(angles[image]), sine = std::sin(angles[image]), shear = shears[image];
    const float across = scales[image] + 1, down = scales[count + image] + 1;
    affine.insert(affine.end(), {cosine * across, (cosine * shear - sine) * down, shifts[image], sine * across,
                                 (sine * shear + cosine) * down, shifts[count + image]});
  }
  auto elastic = draws.normal(count * as_size(kElasticNumbers));
  for (auto& one : elastic) one *= static_cast<float>(options.elastic);
  std::vector<float> result(images.size());
  warp_images(images.data(), static_cast<std::int64_t>(count), {kSide, kSide}, {affine.data(), elastic.data()},
              options.background, result.data());
  return result;
}

}  // namespace

OperatorImages render_operators(std::int64_t count, std::uint64_t seed) {
  OperatorImages drawn{Array(NumberType::kUInt8, {count, kSide, kSide}), std::vector<std::int64_t>(as_size(count))};
  std::vector<float> images(as_size(drawn.images.count()));
  std::mt19937_64 random(seed ^ 0x5851f42d4c957f2dU);
  const auto between = [&](double low, double high) {
    return low + (high - low) * (static_cast<double>(random() >> 11U) * 0x1p-53);
  };
  auto* pixel = images.data();
  for (auto& label : drawn.labels) {
    const auto which = static_cast<std::int64_t>(random() % kOperators);
    label = which;
    const double reach = between(5, 9), other = between(5, 9), width = between(0.8, 1.8), ink = between(0.8, 1);
    const double shaken = between(-1, 1), again = between(-1, 1);
    std::array<Stroke, 2> strokes{Stroke{-reach, shaken, reach, -shaken}, Stroke{again, -other, -again, other}};
    if (which == kMinus) strokes[1] = strokes[0];
    if (which == kTimes)
      strokes = {Stroke{-reach, -other, reach, other}, Stroke{-reach + again, other, reach, -other + shaken}};
    for (std::int32_t row = 0; row < kSide; ++row) {
      for (std::int32_t column = 0; column < kSide; ++column) {
        const double x = static_cast<double>(column) - 13.5, y = static_cast<double>(row) - 13.5;
        const double distance = std::min(distance_to(strokes[0], x, y), distance_to(strokes[1], x, y));
        *pixel++ = static_cast<float>(2 * ink * std::clamp(width + 0.5 - distance, 0.0, 1.0) - 1);
      }
    }
  }
  if (count > 0) images = bent(images, as_size(count), seed + 17);
  std::ranges::transform(images, drawn.images.values<std::uint8_t>().begin(), [](float ink) {
    return static_cast<std::uint8_t>(std::clamp(std::nearbyint((ink + 1) * 127.5F), 0.0F, 255.0F));
  });
  return drawn;
}

}  // namespace anesi
