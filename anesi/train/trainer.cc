#include "anesi/train/trainer.h"

#include <chrono>
#include <cmath>
#include <limits>

#include "anesi/core/beliefs.h"
#include "anesi/core/error.h"
#include "anesi/core/seeded.h"
#include "anesi/losses/exact.h"
#include "anesi/train/module_tensors.h"
#include "anesi/train/saved_model.h"

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

// Cross-entropy from the uniform belief to each belief, summed over variables, mean over the batch. A probability below
// the smallest normal float has no gradient: there is nothing left to push against.
torch::Tensor uniform_cross_entropy(const torch::Tensor& beliefs, const Space& worlds) {
  const auto logs = beliefs.clamp_min(std::numeric_limits<float>::min()).log();
  return -(uniform_beliefs(1, worlds).to(beliefs.device()) * logs).sum({1, 2}).mean();
}

NamedTensors copied(NamedTensors tensors) {
  for (auto& [name, tensor] : tensors) tensor = tensor.clone();
  return tensors;
}

constexpr std::uint64_t kStartSeeds = 104729;  // between the seeds of perceptions that are compared
constexpr std::uint64_t kRestartSeeds = 7919;  // between the seeds of one start and the next

// Entropy of the beliefs, summed over variables, mean over the batch.
torch::Tensor entropy_of(const torch::Tensor& beliefs) {
  const auto logs = beliefs.clamp_min(std::numeric_limits<float>::min()).log();
  return -(beliefs * logs).sum({1, 2}).mean();
}

// From `first` to `last` by equal factors.
double geometric(double first, double last, std::int64_t step, std::int64_t steps) {
  if (first == 0 || last == 0) return first;
  return first *
         std::pow(last / first, static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(1, steps)));
}

void check_options(const Configuration& configuration, const Task& task, const Splits& data) {
  const auto& refine = configuration.refine;
  if (refine.epochs > 0 && refine.augment && !task.augment) {
    throw UsageError("refine.augment: this task cannot augment its inputs");
  }
  if (refine.epochs > 0 && refine.restart_gap > 0 && configuration.loss != "exact" &&
      !configuration.q.amortized.frozen) {
    throw UsageError(
        "refine.restart_gap: perception can only start again through a q that has not followed it; "
        "set q.frozen=true");
  }
  if (refine.epochs > 0 && refine.q_steps > 0 &&
      (configuration.q.amortized.frozen || configuration.loss == "exact" || configuration.loss == "rloo")) {
    throw UsageError("refine.q_steps: there is no q that learns; set q.frozen=false and loss=amortized");
  }
  if (!configuration.q.from.empty() && (configuration.loss == "exact" || configuration.loss == "rloo")) {
    throw UsageError("q.from: loss=" + configuration.loss + " learns through no q");
  }
  if (configuration.train.pieces && !(task.draw_pieces && task.piece)) {
    throw UsageError("train.pieces: the examples of this task have no pieces that are problems of their own");
  }
  const auto& decide = configuration.eval.decide;
  if (decide != "likelihood" && decide != "gap") return;
  if (!data.train.holds.defined()) {
    throw UsageError("eval.decide=" + decide +
                     ": the labels of this task say what the output is, not whether it holds");
  }
  const auto& holds = data.held_out().holds;
  if (holds.all().item<bool>() || !holds.any().item<bool>()) {
    throw Error(
        "eval.decide=" + decide +
        ": the labels that its threshold is fitted on all say the same; use eval.decide=symbolic or other data");
  }
}

double mean(double sum, std::int64_t count) {
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

}  // namespace

Trainer::Trainer(const Configuration& configuration, const Task& task, const Splits& data)
    : configuration_(configuration),
      task_(task),
      problem_(*task.problem),
      learned_(configuration.train.pieces && task.piece ? *task.piece : *task.problem),
      perception_(task.perception),
      data_(data),
      rows_(configuration.train.negatives ? torch::arange(data.train.size(), torch::kInt64)
                                          : data.train.rows_that_hold()),
      fingerprint_(torch::tensor(fingerprint(data))),
      batch_(configuration.batch_size(problem_)),
      generator_(seeded(static_cast<std::uint64_t>(configuration.seed))),
      model_(configuration.make_model(problem_)) {
  check_options(configuration, task, data);
  if (rows_.size(0) == 0) {
    throw Error(
        "there is no training example whose label says what the output is; set train.negatives=true to learn "
        "from the others, or give other data");
  }
  if (configuration.loss == "exact") {
    loss_ = std::make_unique<ExactLoss>(model_.prediction);
  } else if (configuration.loss == "rloo") {
    loss_ = std::make_unique<RlooLoss>(learned_, configuration.rloo, generator_);
  } else {
    auto options = configuration.q.amortized;
    options.precision = configuration.train.precision;
    const auto every = configuration.q.every;
    const auto joint_steps = options.frozen ? 0 : (configuration.train.epochs * steps_per_epoch() + every - 1) / every;
    auto amortized = std::make_unique<AmortizedLoss>(
        learned_, model_, make_prior(learned_.worlds(), configuration.prior), options,
        UpdateCounts{configuration.q.updates_alone(), joint_steps, follow_steps()}, generator_);
    amortized_ = amortized.get();
    loss_ = std::move(amortized);
    if (configuration.loss == "amortized+rloo") {
      loss_ = std::make_unique<SumOfLosses>(std::move(loss_),
                                            std::make_unique<RlooLoss>(learned_, configuration.rloo, generator_),
                                            configuration.rloo.weight);
    }
  }
  torch::manual_seed(static_cast<std::uint64_t>(configuration.seed) + 2);  // for modules that draw while training
  optimizer_ =
      std::make_unique<Adam>(perception_->parameters(), AdamOptions{.weight_decay = configuration.train.weight_decay});
}

std::int64_t Trainer::steps_per_epoch() const { return (rows_.size(0) + batch_ - 1) / batch_; }

void Trainer::take_q() {
  const auto& q = configuration_.q;
  if (q.from.empty() || q_steps_done_ > 0) return;
  load_model_tensors(model_, load_q(q.from, q.architecture), "q.from=" + q.from);
  q_steps_done_ = 1;  // those of the other run, whose number does not matter here
}

bool Trainer::run(TrainingObserver& observer) {
  take_q();
  if (!run_q(observer) || !run_starts(observer)) return false;
  do {
    if (!run_perception(observer)) return false;
  } while (!explained_or_restarted());
  return run_refine(observer) && run_follow(observer);
}

bool Trainer::run_q(TrainingObserver& observer) {
  const auto steps = amortized_ == nullptr ? 0 : configuration_.q.updates_alone();
  if (q_steps_done_ >= steps) return true;
  while (q_steps_done_ < steps) {
    {
      const Stopwatch watch(seconds_);
      q_loss_sum_ += amortized_->update();
      ++q_loss_count_;
      ++q_steps_done_;
    }
    const auto now = progress("q", q_steps_done_, steps);
    observer.on_step(now);
    if (q_steps_done_ == steps) {
      loss_sum_ = q_loss_sum_ = 0;
      loss_count_ = q_loss_count_ = 0;
      observer.on_evaluation(now, std::nullopt);
    }
    if (observer.should_stop()) return false;
  }
  return true;
}

void Trainer::take_weights(std::uint64_t seed) {
  const SeededWeights weights(seed);
  load_module_tensors(*perception_, "", module_tensors(*task_.make_perception(), ""), "fresh perception");
  optimizer_ =
      std::make_unique<Adam>(perception_->parameters(), AdamOptions{.weight_decay = configuration_.train.weight_decay});
}

bool Trainer::run_starts(TrainingObserver& observer) {
  const auto& train = configuration_.train;
  const auto steps = train.starts > 1 ? train.starts * train.start_steps : 0;
  if (start_steps_done_ >= steps) return true;
  const StepPlan plan{.q_learns = false,
                      .perception_learns = true,
                      .smoothing = train.smoothing,
                      .entropy = train.entropy,
                      .rate = {train.schedule.lr, 0.9}};
  perception_->train();
  while (start_steps_done_ < steps) {
    const auto start = start_steps_done_ / train.start_steps, within = start_steps_done_ % train.start_steps;
    {
      const Stopwatch watch(seconds_);
      if (within == 0 && start > 0) {
        take_weights(static_cast<std::uint64_t>(configuration_.seed) + kStartSeeds * static_cast<std::uint64_t>(start));
      }
      const auto drawn = torch::randint(rows_.size(0), {std::min(batch_, rows_.size(0))}, generator_, torch::kInt64);
      const auto loss = step(rows_.index_select(0, drawn), plan).first;
      loss_sum_ += loss;
      ++loss_count_;
      if (4 * within >= 3 * train.start_steps) start_loss_ += loss;
      ++start_steps_done_;
    }
    if (within + 1 == train.start_steps) {
      if (!best_candidate_ || start_loss_ < best_candidate_->loss) {
        best_candidate_ = Candidate{start_loss_, copied(module_tensors(*perception_, ""))};
      }
      start_loss_ = 0;
    }
    const auto now = progress("starts", start_steps_done_, steps);
    observer.on_step(now);
    if (start_steps_done_ == steps) {
      load_module_tensors(*perception_, "", best_candidate_->weights, "best start");
      best_candidate_.reset();
      optimizer_ = std::make_unique<Adam>(perception_->parameters(), AdamOptions{.weight_decay = train.weight_decay});
      loss_sum_ = 0;
      loss_count_ = 0;
      observer.on_evaluation(now, std::nullopt);
    }
    if (observer.should_stop()) return false;
  }
  return true;
}

Batch Trainer::shown(const torch::Tensor& rows, at::Generator generator) const {
  if (!configuration_.train.pieces) return data_.train.batch(rows);
  return task_.draw_pieces(data_.train, rows, std::move(generator));
}

std::pair<double, double> Trainer::step(const torch::Tensor& rows) {
  const auto& train = configuration_.train;
  const auto steps = train.epochs * steps_per_epoch();
  return step(rows,
              {.q_learns = steps_done_ % configuration_.q.every == 0,
               .perception_learns = steps_done_ >= train.frozen_epochs * steps_per_epoch(),
               .smoothing = faded(train.smoothing, steps_done_, steps),
               .entropy = train.entropy > 0 ? geometric(train.entropy, train.last_entropy, steps_done_, steps) : 0,
               .rate = train.schedule.at(steps_done_, steps)});
}

std::pair<double, double> Trainer::step(const torch::Tensor& rows, const StepPlan& plan) {
  const auto batch = shown(rows, generator_);
  const torch::AutoGradMode gradients(plan.perception_learns);
  optimizer_->zero_gradients();
  const auto beliefs = perception_->forward(batch.inputs);
  if (!beliefs_checked_) {
    check_beliefs(beliefs, learned_.worlds());
    beliefs_checked_ = true;
  }
  auto q_loss = std::numeric_limits<double>::quiet_NaN();
  if (plan.q_learns) {
    const torch::AutoGradMode of_q(true);
    q_loss = loss_->learn(beliefs);
  }
  auto loss = loss_->loss(beliefs, batch.observations);
  const auto value = loss.item<double>();
  if (!std::isfinite(value)) {
    check_beliefs(beliefs, learned_.worlds());
    throw Error("training: the loss is not a finite number; a lower train.lr or q.lr may help");
  }
  if (!plan.perception_learns) return {value, q_loss};
  if (plan.smoothing > 0) loss = loss + plan.smoothing * uniform_cross_entropy(beliefs, learned_.worlds());
  if (plan.entropy > 0) loss = loss - plan.entropy * entropy_of(beliefs);
  loss.backward();
  optimizer_->step(plan.rate.learning_rate, plan.rate.beta1);
  return {value, q_loss};
}

bool Trainer::run_perception(TrainingObserver& observer) {
  const auto per_epoch = steps_per_epoch(), steps = configuration_.train.epochs * per_epoch;
  torch::Tensor order;
  std::int64_t order_epoch = -1;
  perception_->train();
  while (steps_done_ < steps) {
    const auto epoch = steps_done_ / per_epoch, within = steps_done_ % per_epoch;
    if (epoch != order_epoch) {
      order = order_of_epoch(epoch);
      order_epoch = epoch;
    }
    {
      const Stopwatch watch(seconds_);
      const auto [loss, q_loss] = step(order.slice(0, within * batch_, std::min((within + 1) * batch_, order.size(0))));
      loss_sum_ += loss;
      ++loss_count_;
      if (!std::isnan(q_loss)) {
        q_loss_sum_ += q_loss;
        ++q_loss_count_;
      }
      ++steps_done_;
    }
    const auto now = progress("perception", steps_done_, steps);
    observer.on_step(now);
    const bool epoch_ends = steps_done_ % per_epoch == 0;
    if (steps_done_ == steps || (epoch_ends && (epoch + 1) % configuration_.train.evaluate_every == 0)) {
      loss_sum_ = q_loss_sum_ = 0;
      loss_count_ = q_loss_count_ = 0;
      const auto evaluation = evaluate_held_out();
      perception_->train();
      observer.on_evaluation(now, evaluation);
    }
    if (observer.should_stop() && steps_done_ < steps) return false;
  }
  return true;
}

Evaluation Trainer::evaluate_held_out() {
  return evaluate(problem_, perception(), model_, evaluates_validation() ? data_.validation : data_.test,
                  {.q_learned = configuration_.loss != "rloo"});
}

bool Trainer::explained_or_restarted() {
  const auto& options = configuration_.refine;
  if (options.epochs == 0 || refinement_) return true;
  {
    const Stopwatch watch(seconds_);
    const QJudge q_judge{*model_.prediction, [this](const torch::Tensor& rows, at::Generator generator) {
                           return shown(rows, std::move(generator));
                         }};
    labels_ = explain_labels(problem_, *perception_, data_.train, options,
                             static_cast<std::uint64_t>(configuration_.seed), amortized_ ? &q_judge : nullptr);
  }
  if (options.restart_gap == 0 || labels_->gap <= options.restart_gap) return true;
  if (!best_start_ || labels_->gap < best_start_->labels.gap) {
    best_start_ = Start{*labels_, copied(module_tensors(*perception_, ""))};
  }
  if (restarts_ >= options.restarts) {
    labels_ = best_start_->labels;
    load_module_tensors(*perception_, "", best_start_->weights, "best start");
    return true;
  }
  ++restarts_;
  labels_.reset();
  take_weights(static_cast<std::uint64_t>(configuration_.seed) + kRestartSeeds * static_cast<std::uint64_t>(restarts_));
  steps_done_ = 0;
  return false;
}

void Trainer::start_refinement() {
  refinement_ = std::make_unique<Refinement>(configuration_.refine, task_, *perception_, data_.train, *labels_,
                                             static_cast<std::uint64_t>(configuration_.seed));
}

bool Trainer::run_refine(TrainingObserver& observer) {
  if (configuration_.refine.epochs == 0) return true;
  if (!refinement_) start_refinement();
  const auto steps = refinement_->steps();
  while (refinement_->steps_done() < steps) {
    {
      const Stopwatch watch(seconds_);
      loss_sum_ += refinement_->step();
      ++loss_count_;
    }
    const auto now = progress("refine", refinement_->steps_done(), steps);
    observer.on_step(now);
    if (refinement_->steps_done() == steps) {
      loss_sum_ = 0;
      loss_count_ = 0;
      observer.on_evaluation(now, evaluate_held_out());
    }
    if (observer.should_stop() && refinement_->steps_done() < steps) return false;
  }
  return true;
}

std::int64_t Trainer::follow_steps() const {
  return configuration_.refine.epochs > 0 ? configuration_.refine.q_steps : 0;
}

bool Trainer::run_follow(TrainingObserver& observer) {
  const auto steps = follow_steps();
  while (follow_steps_done_ < steps) {
    {
      const Stopwatch watch(seconds_);
      const auto drawn = torch::randint(rows_.size(0), {std::min(batch_, rows_.size(0))}, generator_, torch::kInt64);
      const auto batch = shown(rows_.index_select(0, drawn), generator_);
      perception().eval();
      const auto beliefs = [&] {
        const torch::NoGradGuard no_gradients;
        return perception().forward(batch.inputs);
      }();
      q_loss_sum_ += loss_->learn(beliefs);
      ++q_loss_count_;
      ++follow_steps_done_;
    }
    const auto now = progress("follow", follow_steps_done_, steps);
    observer.on_step(now);
    if (follow_steps_done_ == steps) {
      q_loss_sum_ = 0;
      q_loss_count_ = 0;
      observer.on_evaluation(now, evaluate_held_out());
    }
    if (observer.should_stop() && follow_steps_done_ < steps) return false;
  }
  return true;
}

torch::Tensor Trainer::order_of_epoch(std::int64_t epoch) const {
  const auto seed = static_cast<std::uint64_t>(configuration_.seed) * 1000003 +
                    static_cast<std::uint64_t>(restarts_) * kRestartSeeds + static_cast<std::uint64_t>(epoch) + 1;
  return rows_.index_select(0, torch::randperm(rows_.size(0), seeded(seed), torch::kInt64));
}

Progress Trainer::progress(const std::string& phase, std::int64_t step, std::int64_t steps) const {
  const bool refines = phase == "refine";
  const auto per_epoch = std::max<std::int64_t>(1, refines ? refinement_->steps_per_epoch() : steps_per_epoch());
  const auto epochs = refines                 ? configuration_.refine.epochs * configuration_.refine.members
                      : phase == "perception" ? configuration_.train.epochs
                                              : 0;
  return {phase,
          step,
          steps,
          epochs > 0 ? (step + per_epoch - 1) / per_epoch : 0,
          epochs,
          mean(loss_sum_, loss_count_),
          mean(q_loss_sum_, q_loss_count_),
          seconds_,
          restarts_,
          evaluates_validation() ? "validation" : "test"};
}

NamedTensors Trainer::state() const {
  auto state = module_tensors(*perception_, "perception.");
  state.merge(model_tensors(model_));
  add_with_prefix(state, "loss.", loss_->state());
  add_with_prefix(state, "optimizer.", optimizer_->state());
  state["generator"] = generator_.get_state();
  state["torch_generator"] = at::detail::getDefaultCPUGenerator().get_state();
  state["data"] = fingerprint_;
  state["steps"] = torch::tensor(
      {q_steps_done_, steps_done_, loss_count_, q_loss_count_, restarts_, start_steps_done_, follow_steps_done_});
  if (refinement_) add_with_prefix(state, "refine.", refinement_->state());
  if (best_start_) {
    add_with_prefix(state, "best.labels.", best_start_->labels.state());
    add_with_prefix(state, "best.weights.", best_start_->weights);
  }
  if (best_candidate_) {
    state["candidate.loss"] = torch::tensor(best_candidate_->loss, torch::kFloat64);
    add_with_prefix(state, "candidate.weights.", best_candidate_->weights);
  }
  state["sums"] = torch::tensor({loss_sum_, q_loss_sum_, seconds_, start_loss_}, torch::kFloat64);
  return copied(std::move(state));
}

void Trainer::load_state(const NamedTensors& state) {
  for (const char* name : {"generator", "torch_generator", "data", "steps", "sums"}) {
    if (!state.contains(name)) throw Error(std::string("checkpoint: ") + name + " is missing");
  }
  if (!torch::equal(state.at("data"), fingerprint_)) {
    throw Error("the data are not those that the run was started on; give the same --data");
  }
  load_module_tensors(*perception_, "perception.", state, "checkpoint");
  load_model_tensors(model_, state, "checkpoint");
  loss_->load_state(with_prefix(state, "loss."));
  optimizer_->load_state(with_prefix(state, "optimizer."));
  generator_.set_state(state.at("generator"));
  auto torch_generator = at::detail::getDefaultCPUGenerator();
  torch_generator.set_state(state.at("torch_generator"));
  const auto steps = state.at("steps");
  if (steps.numel() != 7) throw Error("checkpoint: written by another version of this program");
  q_steps_done_ = steps[0].item<std::int64_t>();
  steps_done_ = steps[1].item<std::int64_t>();
  loss_count_ = steps[2].item<std::int64_t>();
  q_loss_count_ = steps[3].item<std::int64_t>();
  restarts_ = steps[4].item<std::int64_t>();
  start_steps_done_ = steps[5].item<std::int64_t>();
  follow_steps_done_ = steps[6].item<std::int64_t>();
  const auto sums = state.at("sums");
  loss_sum_ = sums[0].item<double>();
  q_loss_sum_ = sums[1].item<double>();
  seconds_ = sums[2].item<double>();
  start_loss_ = sums[3].item<double>();
  best_candidate_.reset();
  if (const auto candidate = with_prefix(state, "candidate."); !candidate.empty()) {
    best_candidate_ = Candidate{candidate.at("loss").item<double>(), copied(with_prefix(candidate, "weights."))};
  }
  best_start_.reset();
  labels_.reset();
  refinement_.reset();
  if (const auto best = with_prefix(state, "best."); !best.empty()) {
    best_start_ = Start{ExplainedLabels::from(with_prefix(best, "labels.")), copied(with_prefix(best, "weights."))};
  }
  const auto refined = with_prefix(state, "refine.");
  if (refined.empty()) return;
  labels_ = ExplainedLabels::from(refined);
  start_refinement();
  refinement_->load_state(refined);
}

}  // namespace anesi
