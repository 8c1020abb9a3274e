#include "anesi/priors/belief_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/priors/prior.h"
#include "anesi/tensors/beliefs.h"

namespace anesi {

BeliefWindow::BeliefWindow(Space space, std::int64_t capacity) : space_(std::move(space)), capacity_(capacity) {
  if (capacity < 1) throw UsageError(fmt::format("belief window of {}; it must hold at least 1 belief", capacity));
  ring_ = torch::zeros({capacity_, space_.variables(), space_.largest_domain()}, torch::kFloat);
}

torch::Tensor BeliefWindow::push(const torch::Tensor& beliefs) {
  check_beliefs(beliefs, space_);
  const auto rows = beliefs.detach().to(torch::kCPU, torch::kFloat).contiguous();
  const auto width = rows.size(1) * rows.size(2);
  const auto leaving = std::max<std::int64_t>(0, size_ + rows.size(0) - capacity_);
  auto left = torch::empty({leaving, rows.size(1), rows.size(2)}, torch::kFloat);

  const float* source = rows.const_data_ptr<float>();
  float* out = left.mutable_data_ptr<float>();
  for (std::int64_t row = 0; row < rows.size(0); ++row) {
    float* slot = ring_.mutable_data_ptr<float>() + next_ * width;
    if (size_ == capacity_) {
      out = std::copy_n(slot, width, out);
    } else {
      ++size_;
    }
    std::copy_n(source + row * width, width, slot);
    next_ = next_ + 1 == capacity_ ? 0 : next_ + 1;
  }
  return left;
}

torch::Tensor BeliefWindow::beliefs() const { return beliefs(torch::arange(size_)); }

torch::Tensor BeliefWindow::beliefs(const torch::Tensor& ages) const {
  const auto oldest = size_ == capacity_ ? next_ : 0;
  return ring_.index_select(0, (ages + oldest).remainder(capacity_));
}

NamedTensors BeliefWindow::state() const { return {{"beliefs", beliefs()}}; }

void BeliefWindow::load_state(const NamedTensors& state) {
  const auto saved =
      saved_tensor(state, "beliefs", torch::kFloat, {-1, space_.variables(), space_.largest_domain()}).contiguous();
  if (saved.size(0) > capacity_) {
    throw Error(fmt::format("prior state: {} beliefs for a window of {}; load it with the window it was saved with",
                            saved.size(0), capacity_));
  }
  check_beliefs(saved, space_);
  size_ = 0;
  next_ = 0;
  push(saved);
}

}  // namespace anesi
