#include "anesi/models/learned_pruning.h"

#include <cmath>

#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"

namespace anesi {
namespace {

class LearnedRollout final : public Rollout {
 public:
  LearnedRollout(std::unique_ptr<Rollout> rollout, std::unique_ptr<Rollout> judge, double threshold)
      : rollout_(std::move(rollout)), judge_(std::move(judge)), threshold_(threshold) {}

  torch::Tensor next_log_probs() override {
    const auto judged = judge_->next_log_probs().detach();
    const auto kept = (judged >= std::log(threshold_)).logical_or(judged == std::get<0>(judged.max(1, true)));
    return restrict_choice(rollout_->next_log_probs(), kept);
  }
  torch::Tensor ended() const override { return rollout_->ended(); }
  void advance(const torch::Tensor& values) override {
    judge_->advance(values);
    rollout_->advance(values);
  }
  void select(const torch::Tensor& rows) override {
    judge_->select(rows);
    rollout_->select(rows);
  }

 private:
  std::unique_ptr<Rollout> rollout_, judge_;
  double threshold_;
};

}  // namespace

std::unique_ptr<Rollout> LearnedPruning::begin(SequenceModel& model, const Context& context) const {
  const Context uniform(uniform_beliefs(context.size(), worlds_).to(context.beliefs.device()), context.outputs);
  return std::make_unique<LearnedRollout>(model.begin(context), model.begin(uniform), threshold_);
}

FalsePrunes false_prunes(SequenceModel& explanation, const Problem& problem, double threshold, std::int64_t worlds,
                         const at::Generator& generator) {
  const torch::NoGradGuard no_gradients;
  const auto beliefs = uniform_beliefs(worlds, problem.worlds());
  const auto drawn = sample_worlds(beliefs, generator);
  const auto judge = explanation.begin({beliefs, apply(problem, drawn)});
  auto lost = torch::zeros({worlds}, torch::kBool);
  double choices = 0;
  for (const auto variable : explanation.order()) {
    const auto judged = judge->next_log_probs();
    const auto value = drawn.select(1, variable);
    const auto own = judged.gather(1, value.unsqueeze(1)).squeeze(1);
    const auto left_out = (own < std::log(threshold)).logical_and(own < std::get<0>(judged.max(1)));
    choices += left_out.sum().item<double>();
    lost.logical_or_(left_out);
    judge->advance(value);
  }
  const auto total = static_cast<double>(worlds);
  return {choices / (total * static_cast<double>(explanation.order().size())), lost.sum().item<double>() / total};
}

}  // namespace anesi
