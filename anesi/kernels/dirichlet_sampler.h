// Samples of independent Dirichlets, also where their concentrations are so small that a gamma variate is no double.
//
// At concentration 0.005 most gamma variates lie below 1e-308, and dividing them by their sum gives 0/0. So the
// variates are made as logarithms: if g is Gamma(alpha + 1) and u uniform, ln g + ln(u) / alpha is the logarithm of a
// Gamma(alpha) variate. A softmax over each variable's values makes the belief. g comes from Marsaglia and Tsang's
// method ("A simple method for generating gamma variables", 2000), which needs alpha + 1 >= 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "anesi/core/rows.h"

namespace anesi {

class DirichletSampler {
 public:
  // A row for each variable, 0 past its domain. Throws Error if a number is negative or not finite, or a variable has
  // no value.
  explicit DirichletSampler(Rows<const double> concentration);

  // Fills each row with a belief, [variables, width of the concentrations]. Rows of a variable sum to 1 but for
  // rounding, and are 0 past its domain. A belief may also be 0 inside it, if it is below the smallest float.
  //
  // Every belief has its own stream, made from the seed and its place, so the same seed gives the same beliefs on any
  // number of threads, and fewer beliefs are the beginning of more.
  void draw(std::uint64_t seed, Rows<float> beliefs) const;

 private:
  void write_belief(std::span<double> variates, std::span<const double> uniforms, std::span<float> belief) const;

  std::int64_t width_;
  std::vector<std::size_t> domains_;
  // Of each value, without padding, what Marsaglia and Tsang's method needs.
  std::vector<double> inverse_;  // 1 / alpha
  std::vector<double> scale_;    // d = alpha + 1 - 1/3
  std::vector<double> spread_;   // c = 1 / sqrt(9 d)
};

}  // namespace anesi
