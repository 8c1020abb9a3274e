// Pruning without a symbolic pruner: the inference model itself says what can be completed.
//
// At the uniform belief every world that fits is equally likely, so a choice to which the model then gives next to no
// probability has, as far as it knows, next to no completions (the paper's fourth kind). As quick as the model; not a
// guarantee. false_prunes measures how often it is wrong.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/models/prune.h"

namespace anesi {

class LearnedPruning final : public Pruning {
 public:
  // Leaves out values whose probability at the uniform belief is below `threshold`; the most probable always stays.
  LearnedPruning(Space worlds, double threshold) : worlds_(std::move(worlds)), threshold_(threshold) {}
  std::unique_ptr<Rollout> begin(SequenceModel& model, const Context& context) const override;

 private:
  Space worlds_;
  double threshold_;
};

struct FalsePrunes {
  double by_choice = 0;  // share of choices on the way to a true world that would have been left out
  double by_world = 0;   // share of true worlds that could not have been reached
};

// On worlds drawn evenly, each explained for its own output. `explanation` is q(w|y,P).
FalsePrunes false_prunes(SequenceModel& explanation, const Problem& problem, double threshold, std::int64_t worlds,
                         const at::Generator& generator);

}  // namespace anesi
