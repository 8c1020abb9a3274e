#include "anesi/train/starts_phase.h"

#include "anesi/models/module_tensors.h"
#include "anesi/train/perception_step.h"

namespace anesi {

StepLosses StartsPhase::step(std::int64_t index) {
  constexpr std::uint64_t kSeeds = 104729;  // between the seeds of perceptions that are compared
  const auto start = index / options_.start_steps, within = index % options_.start_steps;
  if (within == 0 && start > 0) learner_.begin_anew(learner_.seed + kSeeds * static_cast<std::uint64_t>(start));
  learner_.perception->train();
  const auto losses = perception_step(
      learner_, learner_.draw_rows(batch_),
      {.rate = {options_.schedule.lr, 0.9}, .smoothing = options_.smoothing, .entropy = options_.entropy});
  if (4 * within >= 3 * options_.start_steps) loss_ += *losses.loss;
  if (within + 1 == options_.start_steps) compare();
  if (index + 1 == steps()) {
    learner_.take_weights(best_->weights);
    best_.reset();
  }
  return losses;
}

void StartsPhase::compare() {
  if (!best_ || loss_ < best_->loss) best_ = Start{loss_, copied(module_tensors(*learner_.perception, ""))};
  loss_ = 0;
}

NamedTensors StartsPhase::state() const {
  NamedTensors state{{"loss", torch::tensor(loss_, torch::kFloat64)}};
  if (best_) {
    state["best.loss"] = torch::tensor(best_->loss, torch::kFloat64);
    add_with_prefix(state, "best.weights.", best_->weights);
  }
  return state;
}

void StartsPhase::load_state(const NamedTensors& state) {
  const auto loss = state.find("loss");
  loss_ = loss == state.end() ? 0 : loss->second.item<double>();
  best_.reset();
  if (const auto best = with_prefix(state, "best."); !best.empty()) {
    best_ = Start{best.at("loss").item<double>(), copied(with_prefix(best, "weights."))};
  }
}

}  // namespace anesi
