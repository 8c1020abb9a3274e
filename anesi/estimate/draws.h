// What an expectation is taken over: z, whole numbers that are drawn from categoricals and real ones from normals.
//
// Appendix C of the paper: a network gives the parameters P of a distribution p(z|P), and a function g of z is to be
// large or small in the mean. In A-NeSI proper z is a world and P are beliefs; here z may have real parts too.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

#include "anesi/core/space.h"

namespace anesi {

// What z is made of. Either part may be missing.
struct Sources {
  Space categoricals = Space(std::vector<std::int64_t>{});
  std::int64_t normals = 0;
};

// P, of a batch. Gradients reach whichever of these want them.
struct Parameters {
  torch::Tensor beliefs = {};               // [batch, variables, largest domain], rows that sum to one
  torch::Tensor mean = {}, deviation = {};  // [batch, normals]

  std::int64_t batch() const { return beliefs.defined() ? beliefs.size(0) : mean.size(0); }
  Parameters detached() const { return {beliefs.detach(), mean.detach(), deviation.detach()}; }
  Parameters rows(const torch::Tensor& index) const {
    return {beliefs.index_select(0, index), mean.index_select(0, index), deviation.index_select(0, index)};
  }
};

// z, of so many rows.
struct Draws {
  torch::Tensor discrete = {};  // int64 [rows, variables]
  torch::Tensor real = {};      // double [rows, normals]

  std::int64_t rows() const { return discrete.size(0); }
  Draws slice(std::int64_t begin, std::int64_t end) const {
    return {discrete.slice(0, begin, end), real.slice(0, begin, end)};
  }
};

// The same in 64 bits on the CPU, with empty tensors for parts that are missing. Throws UsageError where a shape is
// another, something is not a number, beliefs do not sum to one or a deviation is not above zero.
Parameters checked(const Parameters& parameters, const Sources& sources);

// `each` draws from every row of the batch, one row's beside each other.
Draws draw(const Parameters& parameters, std::int64_t each, at::Generator generator);

// The same rows as draw() has them.
Parameters repeated(const Parameters& parameters, std::int64_t each);

// log p(z|P) of draws with their own parameters each, [rows]. Differentiable in the parameters.
torch::Tensor draw_log_prob(const Parameters& parameters, const Draws& draws);

// Parameters that are certain of each draw: deviations are zero.
Parameters certain_of(const Draws& draws, const Sources& sources);

// "[0, 2]", "[0.25]" or "[0, 2 | 0.25]".
std::string in_words(const Draws& draws, std::int64_t row);

Draws joined(const Draws& first, const Draws& second);

}  // namespace anesi
