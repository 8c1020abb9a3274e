// A small random generator whose numbers are the same on every machine and with every standard library.
#pragma once

#include <cstdint>
#include <limits>
#include <numbers>

namespace anesi {

// SplitMix64. The standard's distributions differ between libraries, so numbers are mapped to ranges here. It can be
// given to the standard's algorithms (std::shuffle), whose results may then differ.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // from [0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>((next() >> 32) * bound >> 32); }

  // Nearly normal, mean 0 and deviation 1: the sum of four 16-bit uniform numbers, never beyond 3.5.
  double normal() {
    const std::uint64_t bits = next();
    const std::uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    return (static_cast<double>(sum) / 65535.0 - 2.0) * std::numbers::sqrt3;
  }

  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() { return next(); }

 private:
  std::uint64_t state_;
};

}  // namespace anesi
