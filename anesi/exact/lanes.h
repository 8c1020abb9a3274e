// Eight numbers of 64 bits side by side, one for each of eight examples.
//
// Kernels that do the same to every example keep the examples innermost, so that one instruction serves all eight. What
// an example gets does not depend on its neighbours.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <numbers>

namespace anesi {

inline constexpr std::int64_t kLanes = 8;
// Aligned by hand, because by itself a vector's alignment depends on the instruction set that a function is compiled
// for.
inline constexpr std::size_t kLaneBytes = kLanes * sizeof(double);
using Lanes = double __attribute__((vector_size(kLaneBytes), aligned(kLaneBytes)));
using LaneBits = std::int64_t __attribute__((vector_size(kLaneBytes), aligned(kLaneBytes)));

// So many of them, not set.
class LaneArray {
 public:
  explicit LaneArray(std::size_t size = 0)
      : size_(size), memory_(::operator new(size* kLaneBytes, std::align_val_t(kLaneBytes))) {}

  std::size_t size() const { return size_; }
  Lanes* data() const { return static_cast<Lanes*>(memory_.get()); }
  Lanes* begin() const { return data(); }
  Lanes* end() const { return data() + size_; }
  Lanes& operator[](std::size_t place) const { return data()[place]; }

 private:
  struct Delete {
    void operator()(void* memory) const { ::operator delete(memory, std::align_val_t(kLaneBytes)); }
  };
  std::size_t size_;
  std::unique_ptr<void, Delete> memory_;
};

// (Vectors are returned through an argument: how a function returns them depends on the instruction set.)

// exp(x) for x <= 0, with a relative error below 1e-15; 0 below -700. What is no number stays none.
[[gnu::always_inline]] inline void exp_of(const Lanes& x, Lanes& exponential) {
  constexpr double kRound = 0x1.8p52;  // added and taken away, it leaves a whole number
  constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  const Lanes floor = Lanes{} - 700;
  const Lanes clamped = x < floor ? floor : x;
  const Lanes shifted = clamped * (1 / std::numbers::ln2) + kRound;
  const Lanes whole = shifted - kRound;
  const Lanes rest = (clamped - whole * kLn2High) - whole * kLn2Low;  // at most ln(2) / 2 in size
  Lanes sum = rest * (1.0 / 6227020800.0) + 1.0 / 479001600.0;
  sum = sum * rest + 1.0 / 39916800.0;
  sum = sum * rest + 1.0 / 3628800.0;
  sum = sum * rest + 1.0 / 362880.0;
  sum = sum * rest + 1.0 / 40320.0;
  sum = sum * rest + 1.0 / 5040.0;
  sum = sum * rest + 1.0 / 720.0;
  sum = sum * rest + 1.0 / 120.0;
  sum = sum * rest + 1.0 / 24.0;
  sum = sum * rest + 1.0 / 6.0;
  sum = sum * rest + 0.5;
  sum = sum * rest + 1.0;
  sum = sum * rest + 1.0;
  const LaneBits power = reinterpret_cast<LaneBits>(shifted) << 52;
  const LaneBits scaled = reinterpret_cast<LaneBits>(sum) + power;
  exponential = x < floor ? Lanes{} : reinterpret_cast<Lanes>(scaled);
}

// A product of normal numbers that neither overflows nor underflows. Factors may be 0, or no numbers.
struct ScaledProduct {
  Lanes mantissa = Lanes{} + 1, exponent{};
  Lanes not_positive = Lanes{} + 1;  // the product of those that are not

  [[gnu::always_inline]] void multiply(const Lanes& factor) {
    not_positive *= factor > 0 ? Lanes{} + 1 : factor;
    mantissa *= factor;
    const LaneBits bits = reinterpret_cast<LaneBits>(mantissa);
    exponent += __builtin_convertvector((bits >> 52) - 1023, Lanes);
    mantissa = reinterpret_cast<Lanes>((bits & 0xfffffffffffffLL) | (1023LL << 52));
  }
  double log(std::int64_t lane) const {
    if (not_positive[lane] != 1) return std::log(not_positive[lane]);
    return std::log(mantissa[lane]) + exponent[lane] * std::numbers::ln2;
  }
};

}  // namespace anesi
