#include "anesi/losses/amortized.h"

#include <ATen/autocast_mode.h>

#include <cmath>
#include <limits>

#include "anesi/core/beliefs.h"
#include "anesi/core/error.h"
#include "anesi/core/parallel_operations.h"
#include "anesi/models/sample.h"

namespace anesi {
namespace {

// While it lives, matrix products run in bfloat16 where asked for; weights and everything else stay as they are.
class ReducedPrecision {
 public:
  ReducedPrecision(bool reduced, torch::DeviceType device)
      : device_(device), before_(at::autocast::is_autocast_enabled(device)) {
    if (reduced) at::autocast::set_autocast_dtype(device_, torch::kBFloat16);
    at::autocast::set_autocast_enabled(device_, reduced);
  }
  ~ReducedPrecision() {
    at::autocast::set_autocast_enabled(device_, before_);
    at::autocast::clear_cache();
  }
  ReducedPrecision(const ReducedPrecision&) = delete;
  ReducedPrecision& operator=(const ReducedPrecision&) = delete;

 private:
  torch::DeviceType device_;
  bool before_;
};

// How far an impossible sample counts as being off, in nats.
constexpr double kImpossibleRatio = 10;

// An explanation model without weights follows from the prediction model: there is nothing else to learn.
bool learns_to_explain(const InferenceModel& model) {
  return model.explanation && !model.explanation->parameters().empty();
}

std::vector<torch::Tensor> parameters_of(const InferenceModel& model) {
  auto parameters = model.prediction->parameters();
  if (model.explanation) {
    const auto more = model.explanation->parameters();
    parameters.insert(parameters.end(), more.begin(), more.end());
  }
  return parameters;
}

// For networks that normalise by the batch while they learn; perception learns through q as it is at rest.
void set_training(const InferenceModel& model, bool learns) {
  model.prediction->train(learns);
  if (model.explanation) model.explanation->train(learns);
}

// Losses and their gradients, added up one after another.
class SumOfGradients {
 public:
  explicit SumOfGradients(const std::vector<torch::Tensor>& parameters)
      : parameters_(parameters), gradients_(parameters.size()) {}

  void add(const torch::Tensor& loss) {
    loss_ += loss.item<double>();
    const auto more = torch::autograd::grad({loss}, parameters_, {}, /*retain_graph=*/false, /*create_graph=*/false,
                                            /*allow_unused=*/true);
    for (std::size_t place = 0; place < more.size(); ++place) add_to(gradients_[place], more[place]);
  }

  // Adds the gradients to those of the parameters and returns the loss.
  double give() const {
    for (std::size_t place = 0; place < parameters_.size(); ++place) {
      add_to(parameters_[place].mutable_grad(), gradients_[place]);
    }
    return loss_;
  }

 private:
  static void add_to(torch::Tensor& sum, const torch::Tensor& term) {
    if (!term.defined()) return;
    if (sum.defined()) {
      sum.add_(term);
    } else {
      sum = term.clone();  // what autograd gives may be a view of something
    }
  }

  const std::vector<torch::Tensor>& parameters_;
  std::vector<torch::Tensor> gradients_;
  double loss_ = 0;
};

void require_answers(const InferenceModel& model, const torch::Tensor& queries) {
  if (queries.defined() && !model.prediction->answers_queries()) {
    throw UsageError(
        "this q.architecture answers only what the problem asks: set q.queries=false and train.pieces=false");
  }
}

}  // namespace

torch::Tensor squared_log_ratio(const torch::Tensor& log_q, const torch::Tensor& log_p) {
  const auto impossible = log_p.isneginf();
  const auto ratio = log_q - log_p.masked_fill(impossible, 0);
  return torch::where(impossible, kImpossibleRatio + log_q - log_q.detach(), ratio).square();
}

AmortizedLoss::AmortizedLoss(const Problem& problem, InferenceModel model, std::unique_ptr<BeliefPrior> prior,
                             AmortizedOptions options, UpdateCounts updates, at::Generator generator)
    : problem_(problem),
      model_(std::move(model)),
      prior_(std::move(prior)),
      options_(std::move(options)),
      matches_(learns_to_explain(model_)),
      optimizer_(parameters_of(model_)),
      updates_(updates),
      generator_(std::move(generator)) {
  set_training(model_, false);
  if (!options_.prunes()) return;
  pruner_ = problem.pruner();
  if (!pruner_) throw UsageError("q.variant=prune: this problem has no pruner; use explain");
  pruning_ = std::make_unique<SymbolicPruning>(*pruner_);
}

Exercise Exercise::rows(std::int64_t begin, std::int64_t end) const {
  const auto part = [&](const torch::Tensor& all) { return all.defined() ? all.slice(0, begin, end) : all; };
  return {part(beliefs), part(worlds), part(outputs), part(queries), part(trace)};
}

double AmortizedLoss::update(const torch::Tensor& more) {
  prior_->fit();
  auto [beliefs, worlds] = prior_->sample_with_worlds(options_.samples, generator_);
  if (more.defined()) {
    beliefs = torch::cat({beliefs, more});
    worlds = torch::cat({worlds, sample_worlds(more, generator_)});
  }
  Exercise exercise{beliefs, worlds, {}};
  if (options_.queries) exercise.queries = problem_.draw_queries(beliefs.size(0), generator_);
  require_answers(model_, exercise.queries);
  exercise.outputs =
      exercise.queries.defined() ? problem_.answer(worlds, exercise.queries) : problem_.apply_batch(worlds);
  if (options_.trace > 0) {
    const auto trace = problem_.trace(worlds, exercise.queries);
    if (!trace.defined()) throw UsageError("q.trace: this problem has no intermediate results to tell of");
    const auto share = static_cast<double>(options_.trace) / static_cast<double>(trace.size(1));
    exercise.trace = trace.masked_fill(torch::rand(trace.sizes(), generator_) >= share, kUnset);
  }
  return update_on(exercise);
}

torch::Tensor AmortizedLoss::prediction(const Context& context, const torch::Tensor& outputs) {
  return log_prob(*model_.prediction, context, outputs, matches_ ? pruning_.get() : nullptr);
}

torch::Tensor AmortizedLoss::q_loss(const Exercise& exercise) {
  const auto& [beliefs, worlds, outputs, queries, trace] = exercise;
  if (!matches_) {
    if (!trace.defined()) return -prediction(exercise.context(), outputs).mean();
    const auto traced = model_.prediction->log_prob_with_trace(exercise.context(), outputs, trace);
    return -traced.values.mean() - options_.trace_weight * traced.trace.mean();
  }
  auto &predict = *model_.prediction, &explain = *model_.explanation;
  torch::Tensor loss = torch::zeros({}, beliefs.options());
  if (options_.matching == "forward_kl" || options_.policy != "on") {
    const auto log_prediction = prediction(beliefs, outputs);
    const auto log_q = log_prediction + log_prob(explain, {beliefs, outputs}, worlds, pruning_.get());
    if (options_.matching == "forward_kl") return -log_q.mean();
    loss = loss + squared_log_ratio(log_q, world_log_prob(beliefs, worlds)).mean();
    if (options_.prediction_weight > 0) loss = loss - options_.prediction_weight * log_prediction.mean();
  } else if (options_.prediction_weight > 0) {
    loss = loss - options_.prediction_weight * prediction(beliefs, outputs).mean();
  }
  if (options_.policy != "off") {
    // Outputs and worlds from q itself; the gradient of the drawing is ignored (appendix E.2).
    const auto y = sample(predict, beliefs, generator_, pruning_.get(), options_.temperature);
    const auto w = sample(explain, {beliefs, y.values}, generator_, pruning_.get(), options_.temperature);
    const auto fits = (problem_.apply_batch(w.values) == y.values).all(1);
    const auto log_p = world_log_prob(beliefs, w.values).masked_fill(fits.logical_not(), -INFINITY);
    const auto weight = options_.policy == "on" ? 1 : options_.on_policy_weight;
    loss = loss + weight * squared_log_ratio(y.log_prob + w.log_prob, log_p).mean();
  }
  return loss;
}

double AmortizedLoss::update_on(const Exercise& exercise) {
  const auto samples = exercise.beliefs.size(0);
  const auto chunk =
      options_.chunk > 0 ? std::max<std::int64_t>(1, options_.chunk / exercise.outputs.size(1)) : samples;
  const auto chunks = (samples + chunk - 1) / chunk;
  const auto parameters = parameters_of(model_);
  const auto loss_of = [&](std::int64_t index) {
    const auto begin = index * chunk, end = std::min(begin + chunk, samples);
    const ReducedPrecision precision(options_.precision == "bf16", exercise.beliefs.device().type());
    return q_loss(exercise.rows(begin, end)) * (static_cast<double>(end - begin) / static_cast<double>(samples));
  };
  set_training(model_, true);
  // Gradients are added up in the order of the chunks within a share, and shares in their own order.
  std::vector<std::unique_ptr<SumOfGradients>> shares(static_cast<std::size_t>(chunks));
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    const torch::AutoGradMode gradients(true);
    auto sum = std::make_unique<SumOfGradients>(parameters);
    for (auto index = begin; index < end; ++index) sum->add(loss_of(index));
    shares[static_cast<std::size_t>(begin)] = std::move(sum);
  };
  // Several chunks are shared out to the cores, each on one of them. What draws from the generator keeps its order.
  if (chunks > 1 && !matches_) {
    parallel_operations(chunks, work);
  } else {
    work(0, chunks);
  }
  set_training(model_, false);
  double value = 0;
  optimizer_.zero_gradients();
  for (const auto& share : shares) {
    if (share) value += share->give();
  }
  if (!std::isfinite(value)) throw Error("q: the loss is not a finite number; a lower q.lr may help");
  if (options_.clip > 0) torch::nn::utils::clip_grad_norm_(parameters_of(model_), options_.clip);
  const auto [learning_rate, beta1] = rate();
  ++step_;
  optimizer_.step(learning_rate, beta1);
  optimizer_.zero_gradients();
  return value;
}

Schedule::Rate AmortizedLoss::rate() const {
  if (options_.joint_lr == 0) return options_.schedule.at(step_, updates_.all());
  if (step_ < updates_.before) return options_.schedule.at(step_, updates_.before);
  auto anew = options_.schedule;
  anew.lr = options_.joint_lr;
  const auto joint_step = step_ - updates_.before;
  return joint_step < updates_.beside ? anew.at(joint_step, updates_.beside)
                                      : anew.at(joint_step - updates_.beside, updates_.after);
}

double AmortizedLoss::learn(const torch::Tensor& beliefs) {
  if (options_.frozen) return std::numeric_limits<double>::quiet_NaN();
  prior_->observe(beliefs.detach());
  return update(options_.perceived ? beliefs.detach() : torch::Tensor());
}

torch::Tensor AmortizedLoss::loss(const torch::Tensor& beliefs, const Observations& observations) {
  require_answers(model_, observations.queries);
  const FrozenParameters frozen(*model_.prediction);
  const ReducedPrecision precision(options_.precision == "bf16", beliefs.device().type());
  return -observations.log_prob(prediction({beliefs, {}, observations.queries}, observations.outputs)).mean();
}

NamedTensors AmortizedLoss::state() const {
  NamedTensors state{{"step", torch::tensor(step_)}};
  add_with_prefix(state, "optimizer.", optimizer_.state());
  add_with_prefix(state, "prior.", prior_->state());
  return state;
}

void AmortizedLoss::load_state(const NamedTensors& state) {
  if (!state.contains("step")) throw Error("checkpoint: q's step count is missing");
  optimizer_.load_state(with_prefix(state, "optimizer."));
  prior_->load_state(with_prefix(state, "prior."));
  step_ = state.at("step").item<std::int64_t>();
}

}  // namespace anesi
