// A function g that nobody looks into: asked about draws, counted, and its answers checked.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <exception>
#include <functional>

#include "anesi/estimate/draws.h"

namespace anesi {

// From draws of n rows to n outcomes, or n rows of several. May be random: what is estimated is then its mean.
using Outcomes = std::function<torch::Tensor(const Draws&)>;

// What a function throws to have an error of its own passed on as it is; it names z by itself.
struct PassedOn {
  std::exception_ptr error;
};

class BlackBox {
 public:
  BlackBox(Outcomes function, std::int64_t outcomes) : function_(std::move(function)), outcomes_(outcomes) {}

  std::int64_t outcomes() const { return outcomes_; }
  // Draws that it was asked about so far.
  std::int64_t calls() const { return calls_; }
  // The count goes on from here.
  void set_calls(std::int64_t calls) { calls_ = calls; }

  // double [rows, outcomes]; with its graph where the real parts of the draws want gradients and g gives them. Throws
  // UsageError that names a z where g returns something else, and Error that names z where g throws a std::exception.
  torch::Tensor operator()(const Draws& draws);

 private:
  torch::Tensor asked(const Draws& draws);
  void require_shape(const torch::Tensor& answer, const Draws& draws) const;

  Outcomes function_;
  std::int64_t outcomes_, calls_ = 0;
};

}  // namespace anesi
