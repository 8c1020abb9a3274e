// Adam and AdamW on libtorch's fused kernels, with a learning rate that the caller sets at every step.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "anesi/tensors/named_tensors.h"

namespace anesi {

struct AdamOptions {
  double weight_decay = 0;  // decoupled, as in AdamW
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

class Adam {
 public:
  explicit Adam(std::vector<torch::Tensor> parameters, AdamOptions options = {});

  void zero_gradients();
  // One step along the gradients that are there; parameters without a gradient stay as they are.
  void step(double learning_rate, double beta1 = 0.9);

  // Keeps its moments in this type, as the parameters are from here on.
  void to(torch::ScalarType type);

  // Moments and step counts, for a checkpoint.
  NamedTensors state() const;
  void load_state(const NamedTensors& state);

 private:
  std::vector<torch::Tensor> parameters_, first_moments_, second_moments_, steps_;
  AdamOptions options_;
};

}  // namespace anesi
