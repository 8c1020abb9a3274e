// The last beliefs that perception emitted, up to a number, oldest dropped first.
//
// A ring of floats without an autograd graph, whatever was pushed: a graph would keep every activation of the step that
// made it. Pushing a belief costs a copy of it.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "anesi/core/space.h"
#include "anesi/tensors/named_tensors.h"

namespace anesi {

class BeliefWindow {
 public:
  static constexpr std::int64_t kPaperCapacity = 2500;  // appendix F

  explicit BeliefWindow(Space space, std::int64_t capacity = kPaperCapacity);

  const Space& space() const { return space_; }
  std::int64_t capacity() const { return capacity_; }
  std::int64_t size() const { return size_; }

  // Appends beliefs [batch, variables, domain]; what lies past a variable's domain is stored as zero. Returns those
  // that left the window, [0 or more, variables, domain], the oldest first. Throws Error, and stores nothing, where a
  // belief is not between 0 and 1 (perception diverged) or the shape is another space's.
  torch::Tensor push(const torch::Tensor& beliefs);

  // A copy of the beliefs held, [size, variables, domain], the oldest first.
  torch::Tensor beliefs() const;
  // Copies of some of them, by age: 0 is the oldest. [indices, variables, domain]
  torch::Tensor beliefs(const torch::Tensor& ages) const;

  NamedTensors state() const;
  void load_state(const NamedTensors& state);

 private:
  Space space_;
  std::int64_t capacity_;
  std::int64_t size_ = 0;
  std::int64_t next_ = 0;  // the row that the next belief is written to
  torch::Tensor ring_;     // [capacity, variables, domain]
};

}  // namespace anesi
