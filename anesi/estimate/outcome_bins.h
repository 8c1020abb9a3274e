// Bins of outcomes, fitted to outcomes that were seen.
#pragma once

#include <torch/torch.h>

#include "anesi/tensors/named_tensors.h"

namespace anesi {

// Of one outcome: between quantiles of what was seen, so that each bin holds about as many.
class OutcomeBins {
 public:
  OutcomeBins() = default;
  OutcomeBins(const torch::Tensor& seen, std::int64_t bins);  // double [seen]
  explicit OutcomeBins(const NamedTensors& state);            // throws Error if it is not one

  NamedTensors state() const;

  std::int64_t size() const { return centres_.size(0); }
  // int64, of outcomes of any shape; outcomes past the ends belong to the first and last.
  torch::Tensor bin_of(const torch::Tensor& outcomes) const {
    return torch::bucketize(outcomes.contiguous(), inner_edges_);
  }
  const torch::Tensor& centres() const { return centres_; }  // the mean of what was seen in each, [bins]
  const torch::Tensor& widths() const { return widths_; }    // [bins]

 private:
  torch::Tensor inner_edges_, centres_, widths_;
};

}  // namespace anesi
