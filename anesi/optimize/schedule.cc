#include "anesi/optimize/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace anesi {
namespace {

// From `start` to `end` along half a cosine as t goes from 0 to 1.
double cosine(double start, double end, double t) {
  return end + (start - end) * (1 + std::cos(std::numbers::pi * t)) / 2;
}

}  // namespace

Rate Schedule::at(std::int64_t step, std::int64_t steps) const {
  const auto last = static_cast<double>(std::max<std::int64_t>(steps - 1, 1));
  const double t = std::min(static_cast<double>(step) / last, 1.0);
  if (shape == Shape::kCosine) return {cosine(lr, lr * 0.02, t), 0.9};
  if (shape == Shape::kOneCycle) {
    if (t < warmup) return {cosine(lr / 25, lr, t / warmup), cosine(0.95, 0.85, t / warmup)};
    const double fall = warmup < 1 ? (t - warmup) / (1 - warmup) : 1;
    return {cosine(lr, lr / 25e4, fall), cosine(0.85, 0.95, fall)};
  }
  return {lr, 0.9};
}

double faded(double start, std::int64_t step, std::int64_t steps) {
  const auto end = 0.75 * static_cast<double>(std::max<std::int64_t>(1, steps));
  return start * std::max(0.0, 1 - static_cast<double>(step) / end);
}

}  // namespace anesi
