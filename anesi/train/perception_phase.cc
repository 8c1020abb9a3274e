#include "anesi/train/perception_phase.h"

#include <cmath>

#include "anesi/models/module_tensors.h"
#include "anesi/perception/ensemble.h"
#include "anesi/tensors/seeded.h"
#include "anesi/train/perception_step.h"

namespace anesi {
namespace {

constexpr std::uint64_t kRestartSeeds = 7919;  // between the seeds of one start and the next

// From `first` to `last` by equal factors.
double geometric(double first, double last, std::int64_t step, std::int64_t steps) {
  if (first == 0 || last == 0) return first;
  return first *
         std::pow(last / first, static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(1, steps)));
}

}  // namespace

PerceptionPhase::PerceptionPhase(Learner& learner, Plan plan)
    : learner_(learner), plan_(std::move(plan)), batch_(plan_.train.batch_size(learner.problem->worlds())) {}

void PerceptionPhase::begin() {
  if (plan_.round == 0 || took_refined_) return;
  const auto& refined = *learner_.refined;
  // Of an ensemble, the first network: perception is one.
  const auto* const ensemble = dynamic_cast<const Ensemble*>(&refined);
  learner_.take_weights(copied(module_tensors(ensemble != nullptr ? ensemble->first() : refined, "")));
  learner_.refined.reset();
  learner_.explained.reset();
  took_refined_ = true;
}

StepLosses PerceptionPhase::step(std::int64_t index) {
  const auto& train = plan_.train;
  const auto per_epoch = steps_per_epoch(), all = steps(), within = index % per_epoch;
  const auto& order = order_of(index / per_epoch);
  StepPlan plan{.rate = train.schedule.at(index, all),
                .perception_learns = index >= train.frozen_epochs * per_epoch,
                .augment = train.augment,
                .smoothing = faded(train.smoothing, index, all),
                .entropy = train.entropy > 0 ? geometric(train.entropy, train.last_entropy, index, all) : 0};
  if (plan_.q && index % plan_.q_every == 0) plan.q_rate = plan_.q->rate_beside(index / plan_.q_every);
  learner_.perception->train();
  return perception_step(learner_, order.slice(0, within * batch_, std::min((within + 1) * batch_, order.size(0))),
                         plan);
}

bool PerceptionPhase::reports_after(std::int64_t index) const {
  const auto per_epoch = steps_per_epoch(), done = index + 1;
  return done == steps() || (done % per_epoch == 0 && done / per_epoch % plan_.train.evaluate_every == 0);
}

const torch::Tensor& PerceptionPhase::order_of(std::int64_t epoch) {
  const auto key = learner_.restarts * plan_.train.epochs + epoch;  // of this round
  if (key != order_key_) {
    const auto seed = learner_.seed * 1000003 + static_cast<std::uint64_t>(learner_.restarts) * kRestartSeeds +
                      static_cast<std::uint64_t>(plan_.round * plan_.train.epochs + epoch) + 1;
    order_ = learner_.rows.index_select(0, torch::randperm(learner_.rows.size(0), seeded(seed), torch::kInt64));
    order_key_ = key;
  }
  return order_;
}

std::optional<Evaluation> PerceptionPhase::evaluate() {
  auto evaluation = learner_.evaluate();
  if (plan_.train.keep == Keep::kBest && evaluation && (!kept_ || evaluation->accuracy > kept_->accuracy)) {
    kept_ = Kept{evaluation->accuracy, copied(module_tensors(*learner_.perception, ""))};
  }
  return evaluation;
}

Phase::Next PerceptionPhase::finish() {
  if (kept_) load_module_tensors(*learner_.perception, "", kept_->weights, "best epoch");
  if (!plan_.refine) return Next::kOn;
  const auto& options = *plan_.refine;
  learner_.explained = explain_labels(learner_, options);
  if (plan_.round > 0 || options.restart_gap == 0 || learner_.explained->gap <= options.restart_gap) return Next::kOn;
  if (!best_ || learner_.explained->gap < best_->labels.gap) {
    best_ = Start{*learner_.explained, copied(module_tensors(*learner_.perception, ""))};
  }
  if (learner_.restarts >= options.restarts) {
    learner_.explained = best_->labels;
    load_module_tensors(*learner_.perception, "", best_->weights, "best start");
    return Next::kOn;
  }
  ++learner_.restarts;
  kept_.reset();
  learner_.explained.reset();
  learner_.begin_anew(learner_.seed + kRestartSeeds * static_cast<std::uint64_t>(learner_.restarts));
  return Next::kAgain;
}

NamedTensors PerceptionPhase::state() const {
  NamedTensors state;
  if (took_refined_) state["took_refined"] = torch::tensor(true);
  if (kept_) {
    state["kept.accuracy"] = torch::tensor(kept_->accuracy, torch::kFloat64);
    add_with_prefix(state, "kept.weights.", kept_->weights);
  }
  if (best_) {
    add_with_prefix(state, "best.labels.", best_->labels.state());
    add_with_prefix(state, "best.weights.", best_->weights);
  }
  return state;
}

void PerceptionPhase::load_state(const NamedTensors& state) {
  best_.reset();
  kept_.reset();
  order_key_ = -1;
  if (const auto kept = with_prefix(state, "kept."); !kept.empty()) {
    kept_ = Kept{kept.at("accuracy").item<double>(), copied(with_prefix(kept, "weights."))};
  }
  took_refined_ = state.contains("took_refined");
  if (plan_.round == 0 || took_refined_) learner_.explained.reset();
  if (took_refined_) learner_.refined.reset();
  if (const auto best = with_prefix(state, "best."); !best.empty()) {
    best_ = Start{ExplainedLabels::from(with_prefix(best, "labels.")), copied(with_prefix(best, "weights."))};
  }
}

}  // namespace anesi
