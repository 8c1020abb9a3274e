// Several perceptions as one: the mean of their beliefs.
#pragma once

#include <memory>
#include <vector>

#include "anesi/perception/perception.h"

namespace anesi {

class Ensemble final : public Perception {
 public:
  // At least one member, all for the same inputs and worlds.
  explicit Ensemble(std::vector<std::shared_ptr<Perception>> members);

  torch::Tensor forward(const torch::Tensor& inputs) override;
  bool separable() const override;

 private:
  std::vector<std::shared_ptr<Perception>> members_;
};

}  // namespace anesi
