#include "anesi/losses/amortized.h"

#include <ATen/autocast_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "anesi/core/asked_output.h"
#include "anesi/core/error.h"
#include "anesi/core/known_variables.h"
#include "anesi/core/trace.h"
#include "anesi/losses/counted.h"
#include "anesi/losses/observed_log_prob.h"
#include "anesi/models/sample.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/parallel_operations.h"
#include "anesi/tensors/problem.h"

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

// Each once: the two halves of q may share weights.
std::vector<torch::Tensor> parameters_of(const InferenceModel& model) {
  auto parameters = model.prediction->parameters();
  if (!model.explanation) return parameters;
  for (const auto& parameter : model.explanation->parameters()) {
    const auto is_same = [&](const torch::Tensor& other) { return other.is_same(parameter); };
    if (std::ranges::none_of(parameters, is_same)) parameters.push_back(parameter);
  }
  return parameters;
}

void set_learning(const InferenceModel& model, bool learns) {
  model.prediction->train(learns);
  if (model.explanation) model.explanation->train(learns);
  for (const auto& parameter : parameters_of(model)) parameter.requires_grad_(learns);
}

// While it lives q learns; then it is at rest again, whatever went wrong.
class Learning {
 public:
  explicit Learning(const InferenceModel& model) : model_(model) { set_learning(model_, true); }
  ~Learning() { set_learning(model_, false); }
  Learning(const Learning&) = delete;
  Learning& operator=(const Learning&) = delete;

 private:
  const InferenceModel& model_;
};

// A network that sees the rows of a batch together while it learns, and remembers what it saw.
bool normalises_by_batch(const torch::nn::Module& network) {
  return std::ranges::any_of(network.modules(), [](const auto& part) {
    return part->template as<torch::nn::BatchNorm1d>() != nullptr ||
           part->template as<torch::nn::BatchNorm2d>() != nullptr ||
           part->template as<torch::nn::BatchNorm3d>() != nullptr;
  });
}

bool normalises_by_batch(const InferenceModel& model) {
  return normalises_by_batch(*model.prediction) || (model.explanation && normalises_by_batch(*model.explanation));
}

// Losses and their gradients, added up one after another.
class SumOfGradients {
 public:
  explicit SumOfGradients(const std::vector<torch::Tensor>& parameters)
      : parameters_(parameters), gradients_(parameters.size()) {}

  void add(const torch::Tensor& loss) {
    loss_ += loss.item<double>();
    if (!loss.requires_grad()) return;  // outputs of one value each: there is nothing to learn
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

// Adds up the gradients of all partners, and their losses, in one message.
double added_up(const Partners& partners, const std::vector<torch::Tensor>& parameters, double loss) {
  const torch::NoGradGuard no_gradients;
  std::vector<torch::Tensor> parts{torch::full({1}, loss, torch::kFloat64)};
  for (const auto& parameter : parameters) {
    const auto& gradient = parameter.grad();
    parts.push_back((gradient.defined() ? gradient : torch::zeros_like(parameter)).flatten().to(torch::kFloat64));
  }
  auto message = torch::cat(parts);
  partners.add_up(message);
  std::int64_t place = 1;
  for (auto parameter : parameters) {
    parameter.mutable_grad() = message.slice(0, place, place + parameter.numel()).view_as(parameter).to(parameter);
    place += parameter.numel();
  }
  return message[0].item<double>();
}

}  // namespace

torch::Tensor squared_log_ratio(const torch::Tensor& log_q, const torch::Tensor& log_p) {
  const auto impossible = log_p.isneginf();
  const auto ratio = log_q - log_p.masked_fill(impossible, 0);
  return torch::where(impossible, kImpossibleRatio + log_q - log_q.detach(), ratio).square();
}

AmortizedLoss::AmortizedLoss(std::shared_ptr<const Problem> problem, InferenceModel model,
                             std::unique_ptr<BeliefPrior> prior, AmortizedOptions options, at::Generator generator)
    : problem_(std::move(problem)),
      model_(std::move(model)),
      prior_(std::move(prior)),
      options_(options),
      matches_(learns_to_explain(model_)),
      optimizer_(parameters_of(model_)),
      generator_(std::move(generator)) {
  set_learning(model_, false);
  model_.prediction->draw_from(generator_);
  if (model_.explanation) model_.explanation->draw_from(generator_);
  if (options_.counted > 0 && !model_.explanation) {
    throw UsageError("q.counted: only an explanation model can draw worlds; set q.variant=explain or prune");
  }
  if (options_.chunk > 0 && normalises_by_batch(model_)) {
    throw UsageError("q.chunk: this architecture of q normalises by the batch, which it must see whole; set it to 0");
  }
  if (matches_ && options_.policy == Policy::kSolutions) solutions_.emplace(problem_);
  if (!options_.prunes()) return;
  const auto pruner = problem_->facts().share<Pruner>();
  if (!pruner) throw UsageError("q.variant=prune: this problem has no pruner; use explain");
  pruning_ = std::make_unique<SymbolicPruning>(pruner);
}

Exercise Exercise::rows(std::int64_t begin, std::int64_t end) const {
  const auto part = [&](const torch::Tensor& all) { return all.defined() ? all.slice(0, begin, end) : all; };
  return {part(beliefs), part(worlds), part(outputs), part(trace), solutions};
}

double AmortizedLoss::update(const Rate& rate, const torch::Tensor& more) {
  if (solutions_) {
    const auto drawn = solutions_->draw(options_.samples, generator_);
    Exercise exercise{drawn.beliefs.to(type_), drawn.worlds, drawn.outputs};
    exercise.solutions = true;
    const auto loss = update_on(exercise, rate);
    // Where perception looks, q also learns from its own worlds, so that perception does not live on its errors.
    if (more.defined()) {
      const auto perceived = more.to(type_);
      const auto asked = drawn.outputs.slice(0, 0, 1).expand({perceived.size(0), -1}).contiguous();
      update_on({perceived, sample_worlds(perceived, generator_), asked}, rate);
    }
    return loss;
  }
  prior_->fit();
  auto [beliefs, worlds] = sample_prior();
  if (more.defined()) {
    beliefs = torch::cat({beliefs, more.to(type_)});
    worlds = torch::cat({worlds, sample_worlds(more, generator_)});
  }
  Exercise exercise{beliefs, worlds, apply(*problem_, worlds)};
  if (options_.trace > 0) {
    const auto* const known = problem_->facts().find<Trace>();
    if (known == nullptr) throw UsageError("q.trace: this problem has no intermediate results to tell of");
    const auto trace = trace_of(*known, worlds);
    const auto share = static_cast<double>(options_.trace) / static_cast<double>(trace.size(1));
    exercise.trace = trace.masked_fill(torch::rand(trace.sizes(), generator_) >= share, kUnset);
  }
  return update_on(exercise, rate);
}

SampledWorlds AmortizedLoss::sample_prior() {
  auto [beliefs, worlds] = prior_->sample_with_worlds(options_.samples, generator_);
  beliefs = beliefs.to(type_);
  const auto* const known = problem_->facts().find<KnownVariables>();
  if (known == nullptr) return {beliefs, worlds};
  const auto values = draw_known(*known, options_.samples, generator_);
  return {complete_beliefs(*known, beliefs, values, problem_->worlds()),
          complete_worlds(*known, worlds, values, problem_->worlds())};
}

torch::Tensor AmortizedLoss::prediction(const Context& context, const torch::Tensor& outputs) {
  return log_prob(*model_.prediction, context, outputs, matches_ ? pruning_.get() : nullptr);
}

Samples AmortizedLoss::outputs_to_explain(SequenceModel& predict, const Context& context) {
  const auto* const asked = problem_->facts().find<AskedOutput>();
  if (asked == nullptr) return sample(predict, context, generator_, pruning_.get(), options_.temperature);
  const auto outputs = torch::tensor(asked->output).expand({context.size(), -1}).contiguous();
  return {outputs, prediction(context, outputs)};
}

torch::Tensor AmortizedLoss::on_policy_loss(const Exercise& exercise) {
  const auto& [beliefs, worlds, outputs, trace, solutions] = exercise;
  auto &predict = *model_.prediction, &explain = *model_.explanation;
  const auto y = outputs_to_explain(predict, exercise.context());
  const auto many = options_.worlds;
  const auto each = [&](const torch::Tensor& rows) { return many == 1 ? rows : rows.repeat_interleave(many, 0); };
  const Context context(each(beliefs), each(y.values));
  const auto w = sample(explain, context, generator_, pruning_.get(), options_.temperature);
  const auto fits = (apply(*problem_, w.values) == context.outputs).all(1);
  const auto log_p = world_log_prob(context.beliefs, w.values).masked_fill(fits.logical_not(), -INFINITY);
  if (many == 1) return squared_log_ratio(y.log_prob + w.log_prob, log_p).mean();
  // Each world says what log q(y|P) should be. Their mean weight is the best guess of all of them.
  const auto guesses = (log_p - w.log_prob).detach().view({-1, many});
  const auto pooled = guesses.logsumexp(1) - std::log(static_cast<double>(many));
  const auto possible = pooled.isfinite();
  const auto of_prediction =
      torch::where(possible, y.log_prob - pooled.masked_fill(possible.logical_not(), 0), torch::zeros_like(pooled))
          .square()
          .mean();
  return of_prediction +
         squared_log_ratio(w.log_prob + each(pooled.masked_fill(possible.logical_not(), 0)), log_p).mean();
}

torch::Tensor AmortizedLoss::q_loss(const Exercise& exercise) {
  const auto& [beliefs, worlds, outputs, trace, solutions] = exercise;
  if (!matches_) {
    if (!trace.defined()) return -prediction(exercise.context(), outputs).mean();
    const auto traced = model_.prediction->log_prob_with_trace(exercise.context(), outputs, trace);
    return -traced.values.mean() - options_.trace_weight * traced.trace.mean();
  }
  auto& explain = *model_.explanation;
  if (exercise.solutions) {
    // The worlds are distributed as they should be, so that likelihood teaches; then each says what q(y|P) should be.
    const auto of_worlds = log_prob(explain, {beliefs, outputs}, worlds, pruning_.get());
    const auto of_outputs = world_log_prob(beliefs, worlds) - of_worlds.detach();
    return squared_log_ratio(prediction(exercise.context(), outputs), of_outputs).mean() - of_worlds.mean();
  }
  if (options_.policy == Policy::kSolutions) return on_policy_loss(exercise);
  torch::Tensor loss = torch::zeros({}, beliefs.options());
  if (options_.matching == Matching::kForwardKl || options_.policy != Policy::kOn) {
    const auto log_prediction = prediction(exercise.context(), outputs);
    const auto log_q = log_prediction + log_prob(explain, {beliefs, outputs}, worlds, pruning_.get());
    if (options_.matching == Matching::kForwardKl) return -log_q.mean();
    loss = loss + squared_log_ratio(log_q, world_log_prob(beliefs, worlds)).mean();
    if (options_.prediction_weight > 0) loss = loss - options_.prediction_weight * log_prediction.mean();
  } else if (options_.prediction_weight > 0) {
    loss = loss - options_.prediction_weight * prediction(exercise.context(), outputs).mean();
  }
  if (options_.policy != Policy::kOff) {
    const auto weight = options_.policy == Policy::kOn ? 1 : options_.on_policy_weight;
    loss = loss + weight * on_policy_loss(exercise);
  }
  return loss;
}

double AmortizedLoss::update_on(const Exercise& all, const Rate& rate) {
  const auto everyones = all.beliefs.size(0);
  const auto exercise = partners_.alone() ? all
                                          : all.rows(everyones * partners_.rank / partners_.size,
                                                     everyones * (partners_.rank + 1) / partners_.size);
  const auto samples = exercise.beliefs.size(0);
  const auto chunk =
      std::max<std::int64_t>(1, options_.chunk > 0 ? options_.chunk / exercise.outputs.size(1) : samples);
  const auto chunks = (samples + chunk - 1) / chunk;
  const auto parameters = parameters_of(model_);
  const auto loss_of = [&](std::int64_t index) {
    const auto begin = index * chunk, end = std::min(begin + chunk, samples);
    const ReducedPrecision precision(options_.precision == Precision::kBf16, exercise.beliefs.device().type());
    return q_loss(exercise.rows(begin, end)) * (static_cast<double>(end - begin) / static_cast<double>(everyones));
  };
  // Gradients are added up in the order of the chunks within a share, and shares in their own order.
  std::vector<std::unique_ptr<SumOfGradients>> shares(static_cast<std::size_t>(chunks));
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    const torch::AutoGradMode gradients(true);
    auto sum = std::make_unique<SumOfGradients>(parameters);
    for (auto index = begin; index < end; ++index) sum->add(loss_of(index));
    shares[static_cast<std::size_t>(begin)] = std::move(sum);
  };
  // Several chunks are shared out to the cores, each on one of them. What draws from the generator keeps its order.
  if (const Learning learning(model_); chunks > 1 && !matches_) {
    parallel_operations(chunks, work);
  } else if (chunks > 0) {  // one of many partners may have nothing to do
    work(0, chunks);
  }
  double value = 0;
  optimizer_.zero_gradients();
  for (const auto& share : shares) {
    if (share) value += share->give();
  }
  if (!partners_.alone()) value = added_up(partners_, parameters, value);
  if (!std::isfinite(value)) throw Error("q: the loss is not a finite number; a lower q.lr may help");
  if (options_.clip > 0) torch::nn::utils::clip_grad_norm_(parameters_of(model_), options_.clip);
  optimizer_.step(rate.learning_rate, rate.beta1);
  optimizer_.zero_gradients();
  return value;
}

void AmortizedLoss::join(Partners partners) {
  // With solutions, perceived beliefs are learned from by q's own worlds.
  const bool own = options_.policy == Policy::kOn || options_.policy == Policy::kBoth ||
                   (options_.policy == Policy::kSolutions && options_.perceived);
  if (!partners.alone() && matches_ && own) {
    throw UsageError(
        "q.policy: several processes cannot learn from worlds that q draws itself; set it to off, or to solutions with "
        "q.perceived=false");
  }
  if (!partners.alone() && normalises_by_batch(model_)) {
    throw UsageError(
        "this architecture of q normalises by the batch, so several processes cannot share out its updates; choose "
        "another, or train in one process");
  }
  partners_ = std::move(partners);
}

void AmortizedLoss::to(torch::ScalarType type) {
  type_ = type;
  model_.prediction->to(type);
  if (model_.explanation) model_.explanation->to(type);
  optimizer_.to(type);
}

std::optional<double> AmortizedLoss::learn(const torch::Tensor& beliefs, const Rate& rate) {
  if (!beliefs.defined()) return update(rate);
  const auto* const known = problem_->facts().find<KnownVariables>();
  const auto perceived = beliefs.detach();
  prior_->observe(known == nullptr ? perceived : beliefs_in_others(*known, perceived, problem_->worlds()));
  return update(rate, options_.perceived ? perceived : torch::Tensor());
}

torch::Tensor AmortizedLoss::loss(const torch::Tensor& beliefs, const Observations& observations) {
  const bool finite = observations.worlds.defined() && !model_.exact;
  const auto logs = finite ? std::optional(finite_logs(beliefs)) : std::nullopt;
  return -log_likelihood(beliefs, observations, logs ? &*logs : nullptr).mean();
}

torch::Tensor AmortizedLoss::log_likelihood(const torch::Tensor& beliefs, const Observations& observations,
                                            const LogBeliefs* logs) {
  const ReducedPrecision precision(options_.precision == Precision::kBf16, beliefs.device().type());
  if (options_.counted > 0) {
    return counted_log_prob(model_, *problem_, beliefs, observations, options_.counted, generator_, pruning_.get());
  }
  return observed_log_prob(model_, beliefs, observations, pruning_.get(), matches_, logs);
}

NamedTensors AmortizedLoss::state() const {
  NamedTensors state;
  add_with_prefix(state, "optimizer.", optimizer_.state());
  add_with_prefix(state, "prior.", prior_->state());
  return state;
}

void AmortizedLoss::load_state(const NamedTensors& state) {
  optimizer_.load_state(with_prefix(state, "optimizer."));
  prior_->load_state(with_prefix(state, "prior."));
}

}  // namespace anesi
