#include "anesi/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "anesi/core/error.h"
#include "anesi/exact/found_facts.h"
#include "anesi/models/module_tensors.h"
#include "anesi/tensors/arrays.h"
#include "anesi/train/watch.h"

namespace anesi {
namespace {

class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// How many tensors a state has besides this one.
constexpr const char* kEntries = "entries";

// Where training stands, "at.NAME" in a state, and what phases remember, "phase.NAME.…".
std::string standing_at(const Phase& phase) { return "at." + phase.name(); }
std::string remembered_by(const Phase& phase) { return "phase." + phase.name() + "."; }

// An optimiser's moments in a state. The first has no number, as when there was only one.
std::string optimizer_prefix(std::size_t turn) {
  return turn == 0 ? "optimizer." : fmt::format("optimizer-{}.", turn + 1);
}

}  // namespace

Trainer::Trainer(Learner& learner, std::vector<std::unique_ptr<Phase>> phases)
    : learner_(learner), phases_(std::move(phases)) {
  std::set<std::string> names;
  for (const auto& phase : phases_) {
    if (!names.insert(phase->name()).second) throw Error("training: two phases are called " + phase->name());
  }
  torch::manual_seed(learner.seed + 2);
  learner.make_optimizers();
}

bool Trainer::run(TrainingObserver& observer) {
  while (phase_ < phases_.size()) {
    auto& phase = *phases_[phase_];
    phase.begin();
    for (const auto steps = phase.steps(); step_ < steps;) {
      {
        const Stopwatch watch(seconds_);
        const auto losses = phase.step(step_);
        ++step_;
        loss_.add(losses.loss);
        q_loss_.add(losses.q_loss);
      }
      const auto now = progress(phase);
      observer.on_step(now);
      if (phase.reports_after(step_ - 1)) {
        loss_ = q_loss_ = {};
        const auto evaluation = phase.evaluate();
        observer.on_evaluation(now, evaluation);
      }
      const bool done = step_ == steps && phase_ + 1 == phases_.size();
      if (observer.should_stop() && !done) return false;
    }
    const Stopwatch watch(seconds_);
    if (phase.finish() == Phase::Next::kOn) ++phase_;
    step_ = 0;
  }
  return true;
}

void Trainer::Sum::add(const std::optional<double>& value) {
  total += value.value_or(0);
  count += value ? 1 : 0;
}

double Trainer::Sum::mean() const { return count == 0 ? Progress::kNoLoss : total / static_cast<double>(count); }

Progress Trainer::progress(const Phase& phase) const {
  const auto steps = phase.steps(), epochs = phase.epochs();
  const auto per_epoch = epochs > 0 ? std::max<std::int64_t>(1, steps / epochs) : 1;
  return {.phase = phase.name(),
          .step = step_,
          .steps = steps,
          .epoch = epochs > 0 ? (step_ + per_epoch - 1) / per_epoch : 0,
          .epochs = epochs,
          .loss = loss_.mean(),
          .q_loss = q_loss_.mean(),
          .seconds = seconds_,
          .restarts = learner_.restarts,
          .grown = learner_.grown,
          .split = learner_.held_out_name};
}

NamedTensors Trainer::state() const {
  auto state = module_tensors(*learner_.perception, "perception.");
  state.merge(model_tensors(learner_.model));
  add_with_prefix(state, "loss.", learner_.loss->state());
  for (std::size_t turn = 0; turn < learner_.optimizers.size(); ++turn) {
    add_with_prefix(state, optimizer_prefix(turn), learner_.optimizers[turn].state());
  }
  state["generator"] = learner_.generator.get_state();
  state["torch_generator"] = at::detail::getDefaultCPUGenerator().get_state();
  state["restarts"] = torch::tensor(learner_.restarts);
  if (learner_.grown > 0) {
    state["grown"] = torch::tensor({learner_.grown, learner_.watched.worlds});
    add_with_prefix(state, "found.", tensors_of(found_facts_of(*learner_.problem)));
  }
  state["sums"] = torch::tensor(
      {loss_.total, q_loss_.total, static_cast<double>(loss_.count), static_cast<double>(q_loss_.count), seconds_},
      torch::kFloat64);
  // Once all is done it stands at the end of the last phase.
  if (phase_ < phases_.size()) {
    state[standing_at(*phases_[phase_])] = torch::tensor(step_);
  } else if (!phases_.empty()) {
    state[standing_at(*phases_.back())] = torch::tensor(phases_.back()->steps());
  }
  for (const auto& phase : phases_) add_with_prefix(state, remembered_by(*phase), phase->state());
  state[kEntries] = torch::tensor(static_cast<std::int64_t>(state.size()));
  return copied(std::move(state));
}

void Trainer::load_state(const NamedTensors& state) {
  for (const char* name : {"generator", "torch_generator", "restarts", "sums"}) {
    if (!state.contains(name)) throw Error(std::string("checkpoint: ") + name + " is missing");
  }
  const auto standing = with_prefix(state, "at.");
  std::optional<std::size_t> at;
  for (std::size_t place = 0; place < phases_.size(); ++place) {
    if (state.contains(standing_at(*phases_[place]))) at = place;
  }
  if (standing.size() != 1 || !at) throw Error("checkpoint: it stands at a phase that this training does not have");
  // Earlier versions did not count; later ones may add what is passed over here.
  if (const auto entries = state.find(kEntries); entries != state.end()) {
    const auto lost = entries->second.item<std::int64_t>() - static_cast<std::int64_t>(state.size() - 1);
    if (lost > 0) throw Error(fmt::format("checkpoint: it is not whole, {} of its tensors are missing", lost));
  }
  const auto sums = state.at("sums");
  if (sums.numel() != 5) throw Error("checkpoint: written by another version of this program");
  if (const auto grown = state.find("grown"); grown != state.end()) {
    take_memory(learner_,
                with_found_facts(learner_.problem, arrays_of(with_prefix(state, "found.")), "a memory that grew"));
    learner_.grown = grown->second[0].item<std::int64_t>();
    learner_.watched.worlds = grown->second[1].item<std::int64_t>();
  }
  load_module_tensors(*learner_.perception, "perception.", state, "checkpoint");
  load_model_tensors(learner_.model, state, "checkpoint");
  learner_.loss->load_state(with_prefix(state, "loss."));
  for (std::size_t turn = 0; turn < learner_.optimizers.size(); ++turn) {
    learner_.optimizers[turn].load_state(with_prefix(state, optimizer_prefix(turn)));
  }
  learner_.generator.set_state(state.at("generator"));
  auto torch_generator = at::detail::getDefaultCPUGenerator();
  torch_generator.set_state(state.at("torch_generator"));
  learner_.restarts = state.at("restarts").item<std::int64_t>();
  loss_ = {sums[0].item<double>(), sums[2].item<std::int64_t>()};
  q_loss_ = {sums[1].item<double>(), sums[3].item<std::int64_t>()};
  seconds_ = sums[4].item<double>();
  for (const auto& phase : phases_) phase->load_state(with_prefix(state, remembered_by(*phase)));
  phase_ = *at;
  step_ = standing.begin()->second.item<std::int64_t>();
  if (step_ < 0 || step_ > phases_[phase_]->steps()) {
    throw Error(
        fmt::format("checkpoint: it stands at step {} of {}; the file is damaged", step_, phases_[phase_]->steps()));
  }
}

}  // namespace anesi
