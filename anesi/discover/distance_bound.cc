#include "anesi/discover/distance_bound.h"

#include <cmath>

namespace anesi {
namespace {

// log P(X <= seen) for X ~ Binomial(draws, share), by the terms' ratios.
double log_at_most(std::int64_t seen, std::int64_t draws, double share) {
  // Terms are added from the largest exponent down, relative to it.
  const auto n = static_cast<double>(draws);
  double largest = -INFINITY, sum = 0;
  for (auto k = seen; k >= 0; --k) {
    const auto x = static_cast<double>(k);
    const double term = std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) + x * std::log(share) +
                        (n - x) * std::log1p(-share);
    if (term > largest) {
      sum = sum * std::exp(largest - term) + 1;
      largest = term;
    } else {
      const double less = std::exp(term - largest);
      sum += less;
      if (less < 1e-17 * sum) break;  // they only become smaller from here
    }
  }
  return largest + std::log(sum);
}

}  // namespace

double upper_bound_of_share(std::int64_t differing, std::int64_t draws, double level) {
  if (differing >= draws) return 1;
  const double target = std::log(1 - level);
  if (differing == 0) return -std::expm1(target / static_cast<double>(draws));
  double low = static_cast<double>(differing) / static_cast<double>(draws), high = 1;
  for (int round = 0; round < 200 && high - low > 1e-15 * high; ++round) {
    const double middle = (low + high) / 2;
    (log_at_most(differing, draws, middle) > target ? low : high) = middle;
  }
  return high;
}

}  // namespace anesi
