// Several perceptions as one: the mean of their beliefs.
#pragma once

#include <functional>
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
  std::int64_t members() const { return static_cast<std::int64_t>(members_.size()); }
  const Perception& first() const { return *members_[0]; }

 private:
  std::vector<std::shared_ptr<Perception>> members_;
};

// How many perceptions it is made of: 1 unless it is an ensemble.
std::int64_t members_of(const Perception& perception);

// One perception, or an ensemble of so many.
std::shared_ptr<Perception> make_ensemble(const MakePerception& make, std::int64_t members);

}  // namespace anesi
