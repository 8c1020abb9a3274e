// The functions that fitting and sampling a Dirichlet spend their time in, written so that a plain loop over them is
// vectorised: no branches, no tables, no calls. All are in double, with an absolute error below 1e-13 or a relative one
// below 1e-14, whichever is larger, for the arguments each allows.
//
// The gamma family (log_gamma, digamma, trigamma) adds 8 to the argument by its recurrence and uses the asymptotic
// series there, whose first omitted term is below 1e-14. The terms of the recurrence are gathered into one quotient, so
// that a function costs two or three divisions; all are positive, so nothing cancels however small the argument is.
//
// A loop over them may write where it reads; "#pragma GCC ivdep" before it tells the compiler that rows do not overlap
// otherwise, or it would fall back to one number at a time.
//
// std::lgamma is not used because it writes a global, and a tensor library's functions because a fit makes hundreds of
// calls on few numbers, where the cost of a call is the cost of all.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "anesi/core/vectorized.h"

#define ANESI_INLINE [[gnu::always_inline]] inline

namespace anesi::vectorized {

// e^-x for x >= 0. An argument above 700 counts as 700, so the result is never 0.
ANESI_INLINE double exponential_of_minus(double x) {
  constexpr double kRound = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
  constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  constexpr auto kLargest = std::bit_cast<std::int64_t>(700.0);
  // Positive doubles are ordered as their bits are; comparing integers vectorises with AVX2 too.
  const auto bits = std::bit_cast<std::int64_t>(x);
  const double y = -std::bit_cast<double>(bits < kLargest ? bits : kLargest);
  const double shifted = y * (1.0 / std::numbers::ln2) + kRound;
  const double power = shifted - kRound;
  const double r = (y - power * kLn2High) - power * kLn2Low;  // |r| <= ln(2) / 2
  double sum = 1.0 / 6227020800.0;
  sum = sum * r + 1.0 / 479001600.0;
  sum = sum * r + 1.0 / 39916800.0;
  sum = sum * r + 1.0 / 3628800.0;
  sum = sum * r + 1.0 / 362880.0;
  sum = sum * r + 1.0 / 40320.0;
  sum = sum * r + 1.0 / 5040.0;
  sum = sum * r + 1.0 / 720.0;
  sum = sum * r + 1.0 / 120.0;
  sum = sum * r + 1.0 / 24.0;
  sum = sum * r + 1.0 / 6.0;
  sum = sum * r + 0.5;
  sum = sum * r + 1.0;
  sum = sum * r + 1.0;
  const auto exponent = (std::bit_cast<std::uint64_t>(shifted) + 1023U) << 52;
  return sum * std::bit_cast<double>(exponent);
}

// ln x for a positive normal x.
ANESI_INLINE double logarithm(double x) {
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdU;
  // Splits x into m * 2^power with m in [sqrt(1/2), sqrt(2)).
  const auto above = std::bit_cast<std::uint64_t>(x) - kSqrtHalf + (std::uint64_t{1024} << 52);
  const double power = std::bit_cast<double>((above >> 52) | 0x4330000000000000U) - (0x1p52 + 1024.0);
  const double m = std::bit_cast<double>((above & 0xfffffffffffffU) + kSqrtHalf);
  const double z = (m - 1.0) / (m + 1.0);  // ln m = 2 atanh z
  const double z2 = z * z;
  double sum = 1.0 / 23.0;
  sum = sum * z2 + 1.0 / 21.0;
  sum = sum * z2 + 1.0 / 19.0;
  sum = sum * z2 + 1.0 / 17.0;
  sum = sum * z2 + 1.0 / 15.0;
  sum = sum * z2 + 1.0 / 13.0;
  sum = sum * z2 + 1.0 / 11.0;
  sum = sum * z2 + 1.0 / 9.0;
  sum = sum * z2 + 1.0 / 7.0;
  sum = sum * z2 + 1.0 / 5.0;
  sum = sum * z2 + 1.0 / 3.0;
  return 2.0 * z + (2.0 * z * z2 * sum + power * std::numbers::ln2);
}

// ln(1 + x) for x in [0, 1], with a relative error as small for a tiny x.
ANESI_INLINE double logarithm_of_one_plus(double x) {
  const double z = x / (2.0 + x);  // at most 1/3
  const double z2 = z * z;
  double sum = 1.0 / 33.0;
  sum = sum * z2 + 1.0 / 31.0;
  sum = sum * z2 + 1.0 / 29.0;
  sum = sum * z2 + 1.0 / 27.0;
  sum = sum * z2 + 1.0 / 25.0;
  sum = sum * z2 + 1.0 / 23.0;
  sum = sum * z2 + 1.0 / 21.0;
  sum = sum * z2 + 1.0 / 19.0;
  sum = sum * z2 + 1.0 / 17.0;
  sum = sum * z2 + 1.0 / 15.0;
  sum = sum * z2 + 1.0 / 13.0;
  sum = sum * z2 + 1.0 / 11.0;
  sum = sum * z2 + 1.0 / 9.0;
  sum = sum * z2 + 1.0 / 7.0;
  sum = sum * z2 + 1.0 / 5.0;
  sum = sum * z2 + 1.0 / 3.0;
  return 2.0 * z + 2.0 * z * z2 * sum;
}

// sqrt(x) for x = 0 and any positive normal x. (std::sqrt sets errno, which keeps a loop from vectorising.)
ANESI_INLINE double square_root(double x) {
  double inverse = std::bit_cast<double>(0x5fe6eb50c7b537a9U - (std::bit_cast<std::uint64_t>(x) >> 1));
  for (int i = 0; i < 4; ++i) inverse *= 1.5 - 0.5 * x * inverse * inverse;  // Newton; the first guess is 3 % off
  return x * inverse;
}

// softplus(x) = ln(1 + e^x), and its derivative, the logistic function.
struct Softplus {
  double value;
  double slope;
};
ANESI_INLINE Softplus softplus(double x) {
  const double magnitude = std::abs(x);
  const double e = exponential_of_minus(magnitude);
  const double positive = 0.5 + std::copysign(0.5, x);  // 1 where x is positive, else 0
  return {logarithm_of_one_plus(e) + 0.5 * (x + magnitude), (e + (1.0 - e) * positive) / (1.0 + e)};
}

// d/dx ln Gamma(x) for x in (1e-300, 1e30).
ANESI_INLINE double digamma(double x) {
  double quotient = 1.0, product = x;  // quotient / product = sum of 1 / (x + i)
  for (int i = 1; i < 8; ++i) {
    quotient = quotient * (x + i) + product;
    product = product * (x + i);
  }
  const double y = x + 8.0;
  const double inverse = 1.0 / y;
  const double w = inverse * inverse;
  double series = 1.0 / 12.0;
  series = series * w - 691.0 / 32760.0;
  series = series * w + 1.0 / 132.0;
  series = series * w - 1.0 / 240.0;
  series = series * w + 1.0 / 252.0;
  series = series * w - 1.0 / 120.0;
  series = series * w + 1.0 / 12.0;
  return logarithm(y) - 0.5 * inverse - series * w - quotient / product;
}

// d/dx digamma(x) for x in (1e-150, 1e30).
ANESI_INLINE double trigamma(double x) {
  double sum = 0.0;
  for (int i = 0; i < 8; ++i) sum += 1.0 / ((x + i) * (x + i));
  const double inverse = 1.0 / (x + 8.0);
  const double w = inverse * inverse;
  double series = 7.0 / 6.0;
  series = series * w - 691.0 / 2730.0;
  series = series * w + 5.0 / 66.0;
  series = series * w - 1.0 / 30.0;
  series = series * w + 1.0 / 42.0;
  series = series * w - 1.0 / 30.0;
  series = series * w + 1.0 / 6.0;
  return sum + inverse + 0.5 * w + series * w * inverse;
}

// ln Gamma(x) for x in (1e-300, 1e30).
ANESI_INLINE double log_gamma(double x) {
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  double product = x;
  for (int i = 1; i < 8; ++i) product *= x + i;
  const double y = x + 8.0;
  const double inverse = 1.0 / y;
  const double w = inverse * inverse;
  double series = 1.0 / 156.0;
  series = series * w - 691.0 / 360360.0;
  series = series * w + 1.0 / 1188.0;
  series = series * w - 1.0 / 1680.0;
  series = series * w + 1.0 / 1260.0;
  series = series * w - 1.0 / 360.0;
  series = series * w + 1.0 / 12.0;
  return (y - 0.5) * logarithm(y) - y + kHalfLogTwoPi + series * inverse - logarithm(product);
}

}  // namespace anesi::vectorized
