#include "anesi/tasks/formula/operators.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "anesi/perception/augment_digits.h"

namespace anesi {
namespace {

constexpr std::int64_t kSide = 28;

struct Stroke {
  double from_x, from_y, to_x, to_y;
};

double distance_to(const Stroke& stroke, double x, double y) {
  const double dx = stroke.to_x - stroke.from_x, dy = stroke.to_y - stroke.from_y;
  const double along = ((x - stroke.from_x) * dx + (y - stroke.from_y) * dy) / (dx * dx + dy * dy);
  const double nearest = std::clamp(along, 0.0, 1.0);
  return std::hypot(x - stroke.from_x - nearest * dx, y - stroke.from_y - nearest * dy);
}

}  // namespace

OperatorImages render_operators(std::int64_t count, std::uint64_t seed) {
  OperatorImages drawn{torch::zeros({count, kSide, kSide}), torch::empty({count}, torch::kInt64)};
  std::mt19937_64 random(seed ^ 0x5851f42d4c957f2dU);
  const auto between = [&](double low, double high) {
    return low + (high - low) * (static_cast<double>(random() >> 11U) * 0x1p-53);
  };
  auto* pixel = drawn.images.mutable_data_ptr<float>();
  for (std::int64_t image = 0; image < count; ++image) {
    const auto which = static_cast<std::int64_t>(random() % kOperators);
    drawn.labels.mutable_data_ptr<std::int64_t>()[image] = which;
    const double reach = between(5, 9), other = between(5, 9), width = between(0.8, 1.8), ink = between(0.8, 1);
    const double shaken = between(-1, 1), again = between(-1, 1);
    std::array<Stroke, 2> strokes{Stroke{-reach, shaken, reach, -shaken}, Stroke{again, -other, -again, other}};
    if (which == kMinus) strokes[1] = strokes[0];
    if (which == kTimes)
      strokes = {Stroke{-reach, -other, reach, other}, Stroke{-reach + again, other, reach, -other + shaken}};
    for (std::int64_t row = 0; row < kSide; ++row) {
      for (std::int64_t column = 0; column < kSide; ++column) {
        const double x = static_cast<double>(column) - 13.5, y = static_cast<double>(row) - 13.5;
        const double distance = std::min(distance_to(strokes[0], x, y), distance_to(strokes[1], x, y));
        *pixel++ = static_cast<float>(2 * ink * std::clamp(width + 0.5 - distance, 0.0, 1.0) - 1);
      }
    }
  }
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(seed + 17);
  const auto bent = count > 0 ? augment_digits(drawn.images, {}, generator) : drawn.images;
  drawn.images = ((bent + 1) * 127.5).round().clamp(0, 255).to(torch::kUInt8);
  return drawn;
}

}  // namespace anesi
