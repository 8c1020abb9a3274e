// No prior: q is trained on the beliefs that perception emitted itself.
//
// The ablation that the paper's prior is measured against. Samples are drawn with replacement from the last beliefs
// observed. q then knows no belief that perception has not been at, so perception can be led where q is wrong.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <utility>

#include "anesi/core/space.h"
#include "anesi/priors/belief_window.h"
#include "anesi/priors/prior.h"

namespace anesi {

class ObservedBeliefs : public BeliefPrior {
 public:
  explicit ObservedBeliefs(Space space, std::int64_t window = BeliefWindow::kPaperCapacity)
      : window_(std::move(space), window) {}

  void observe(const torch::Tensor& beliefs) override { window_.push(beliefs); }
  // Throws Error before the first belief.
  torch::Tensor sample(std::int64_t count, at::Generator generator) override;
  NamedTensors state() const override { return window_.state(); }
  void load_state(const NamedTensors& state) override { window_.load_state(state); }

 private:
  BeliefWindow window_;
};

}  // namespace anesi
