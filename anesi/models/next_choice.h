// The next choice of a rollout, where some rows may have ended already.
#pragma once

#include "anesi/models/sequence_model.h"

namespace anesi {

struct NextChoice {
  torch::Tensor log_probs;  // [rows, domain]; a row that ended is certain of the first, which stands for kNone
  torch::Tensor ended;      // bool [rows], undefined where none can have

  bool all_ended() const { return ended.defined() && ended.all().item<bool>(); }

  // What places in the domain, int64 [rows], are as values.
  torch::Tensor values(const torch::Tensor& places) const {
    return ended.defined() ? places.masked_fill(ended, kNone) : places;
  }

  // The log-probability of each row's value, [rows]. Where a row ended too early or too late, -inf.
  torch::Tensor log_prob(const torch::Tensor& values) const {
    const auto of_value = log_probs.gather(1, values.clamp_min(0).unsqueeze(1)).squeeze(1);
    return ended.defined() ? of_value.masked_fill((values == kNone) != ended, -INFINITY) : of_value;
  }
};

// Points whose rows all ended before their last variables were chosen, int64 [rows, variables], with kNone there.
inline torch::Tensor closed(const torch::Tensor& values) { return values.masked_fill(values == kUnset, kNone); }

inline NextChoice next_choice(Rollout& rollout) {
  auto log_probs = rollout.next_log_probs();
  const auto ended = rollout.ended();
  if (ended.defined()) {
    auto certain = torch::full({1, log_probs.size(1)}, -INFINITY, log_probs.options());
    certain.select(1, 0) = 0;
    log_probs = torch::where(ended.unsqueeze(1), certain, log_probs);
  }
  return {log_probs, ended};
}

}  // namespace anesi
