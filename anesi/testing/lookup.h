// A perception for tests: inputs are the values themselves, and beliefs are looked up.
#pragma once

#include <torch/torch.h>

#include "anesi/perception/perception.h"

namespace anesi::toys {

// float [batch, variables] or [batch, variables, 1] -> [batch, variables, values]. It can be right, wrong in a known
// way, or learn.
class Lookup final : public Perception {
 public:
  // Fresh weights from torch's generator. `separable` is what it says of itself; it always is.
  explicit Lookup(std::int64_t values, bool separable = true)
      : logits_(register_parameter("logits", 0.1 * torch::randn({values, values}))), separable_(separable) {}
  // Logits [values shown, values].
  explicit Lookup(const torch::Tensor& logits)
      : logits_(register_parameter("logits", logits.to(torch::kFloat32).clone())), separable_(true) {}

  torch::Tensor forward(const torch::Tensor& inputs) override {
    const auto shown = inputs.reshape({-1}).round().to(torch::kInt64);
    return logits_.index_select(0, shown).softmax(1).view({inputs.size(0), inputs.size(1), -1});
  }
  bool separable() const override { return separable_; }

 private:
  torch::Tensor logits_;
  bool separable_;
};

}  // namespace anesi::toys
