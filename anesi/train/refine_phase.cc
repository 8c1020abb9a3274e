#include "anesi/train/refine_phase.h"

#include <cmath>
#include <limits>

#include "anesi/core/error.h"
#include "anesi/models/module_tensors.h"
#include "anesi/perception/ensemble.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr std::int64_t kVariablesExplainedAtOnce = 4000;

std::uint64_t mixed_seed(std::uint64_t seed, std::int64_t member, std::int64_t use) {
  auto mixed = (seed + 1) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(member) * 0xbf58476d1ce4e5b9U +
               static_cast<std::uint64_t>(use);
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  return mixed ^ (mixed >> 31U);
}

// Cross-entropy of targets, int64 [rows, variables] or what is believed of them, [rows, variables, domain], smoothed
// towards the uniform distribution.
torch::Tensor smoothed_cross_entropy(const torch::Tensor& beliefs, const torch::Tensor& targets, double smoothing) {
  // A probability below the smallest normal float has no gradient: there is nothing left to push against.
  const auto logs = beliefs.clamp_min(std::numeric_limits<float>::min()).log();
  const auto right = targets.dim() == 2 ? logs.gather(2, targets.unsqueeze(2)).mean() : (targets * logs).sum(2).mean();
  return -(1 - smoothing) * right - smoothing * logs.mean();
}

// Labels that are whole worlds, and nothing besides, explain themselves.
ExplainedLabels worlds_told(const Observations& labels) {
  const auto told = (labels.worlds != kUnset).all(1).nonzero().squeeze(1);
  if (told.size(0) == 0) throw UsageError("refine: labels tell neither an output nor a whole world");
  return {.rows = told, .worlds = labels.worlds.index_select(0, told)};
}

// Each label by a search for its most probable world. What a label tells of the world itself is taken for certain.
ExplainedLabels explain_by_search(const Learner& learner, const SearchLimits& limits) {
  const torch::NoGradGuard no_gradients;
  learner.perception->eval();
  const auto& problem = *learner.problem;
  const auto& all = learner.training->labels();
  if (!all.outputs.defined()) return worlds_told(all);
  const auto rows = all.rows_that_hold();
  const auto step = std::max<std::int64_t>(1, kVariablesExplainedAtOnce / problem.worlds().variables());
  std::vector<torch::Tensor> kept, worlds;
  double gap = 0;
  for (std::int64_t begin = 0; begin < rows.size(0); begin += step) {
    const auto some = rows.slice(0, begin, std::min(begin + step, rows.size(0)));
    const auto seen = all.rows(some);
    auto beliefs = learner.perception->forward(learner.training->inputs(some));
    if (seen.worlds.defined()) beliefs = clamped(beliefs, seen.worlds);
    const auto found = most_probable_worlds(problem, beliefs, seen.outputs, limits);
    const auto within = (found.gap.isfinite() & (found.gap <= limits.nats)).nonzero().squeeze(1);
    kept.push_back(some.index_select(0, within));
    worlds.push_back(found.worlds.index_select(0, within));
    gap += found.gap.clamp_max(limits.nats).sum().item<double>();
  }
  if (kept.empty()) {
    return {.rows = torch::empty({0}, torch::kInt64),
            .worlds = torch::empty({0, problem.worlds().variables()}, torch::kInt64)};
  }
  return {.rows = torch::cat(kept), .worlds = torch::cat(worlds), .gap = gap / static_cast<double>(rows.size(0))};
}

// Each label by what q believes of every variable once it knows the label: belief times the gradient of log q(y|P),
// which is the posterior's marginal because q is linear in each belief. Labels that q holds impossible are left out.
ExplainedLabels explain_by_marginals(const Learner& learner) {
  const auto& q = learner.model.prediction;
  if (!q || !learner.through_q || !q->multilinear()) {
    throw UsageError(
        "refine.labels=marginals: q is not linear in each belief; use exact inference, a transducer or auto");
  }
  const auto& all = learner.training->labels();
  if (!all.outputs.defined()) return worlds_told(all);
  learner.perception->eval();
  const auto rows = all.rows_that_hold();
  const auto step = std::max<std::int64_t>(1, kVariablesExplainedAtOnce / learner.problem->worlds().variables());
  std::vector<torch::Tensor> kept, marginals;
  double gap = 0;
  for (const auto& some : rows.split(step)) {
    const auto seen = all.rows(some);
    torch::Tensor beliefs;
    {
      const torch::NoGradGuard no_gradients;
      beliefs = learner.perception->forward(learner.training->inputs(some)).to(torch::kFloat64);
      if (seen.worlds.defined()) beliefs = clamped(beliefs, seen.worlds);
    }
    beliefs.requires_grad_();
    const torch::AutoGradMode gradients(true);
    const auto log_prob = q->log_prob(beliefs, seen.outputs);
    const auto possible = log_prob.isfinite();
    const auto gradient = torch::autograd::grad({torch::where(possible, log_prob, 0.0).sum()}, {beliefs})[0];
    const auto weights = (beliefs.detach() * gradient).clamp_min(0);
    const auto within = possible.nonzero().squeeze(1);
    const auto posterior = weights / weights.sum(2, /*keepdim=*/true).clamp_min(std::numeric_limits<double>::min());
    kept.push_back(some.index_select(0, within));
    marginals.push_back(posterior.index_select(0, within).to(torch::kFloat32));
    gap += -log_prob.detach().index_select(0, within).sum().item<double>();
  }
  ExplainedLabels labels{.rows = torch::cat(kept), .worlds = {}, .marginals = torch::cat(marginals)};
  labels.worlds = labels.marginals.argmax(2);
  labels.gap = gap / static_cast<double>(std::max<std::int64_t>(1, rows.size(0)));
  return labels;
}

}  // namespace

ExplainedLabels explain_labels(const Learner& learner, const RefineOptions& options) {
  switch (options.labels) {
    case LabelsBy::kKinds: {
      const auto found = explain_by_kinds(learner, options.kinds, seeded(mixed_seed(learner.seed, 0, -2)));
      return {.rows = found.rows, .worlds = found.worlds, .gap = found.gap};
    }
    case LabelsBy::kTruth: {
      if (!learner.training->has_worlds())
        throw UsageError("refine.labels=truth: the data do not have the true worlds");
      const auto& worlds = learner.training->worlds();
      const auto known = (worlds != kUnset).all(1).nonzero().squeeze(1);
      return {.rows = known, .worlds = worlds.index_select(0, known)};
    }
    case LabelsBy::kMarginals:
      return explain_by_marginals(learner);
    case LabelsBy::kSearch:
      break;
  }
  return explain_by_search(learner, options.limits);
}

std::string name_of_round(const std::string& phase, std::int64_t round) {
  return round == 0 ? phase : phase + " " + std::to_string(round + 1);
}

RefinePhase::RefinePhase(Learner& learner, RefineOptions options, std::int64_t round)
    : learner_(learner), options_(options), round_(round) {
  if (options_.augment && !learner_.augment) throw UsageError("refine.augment: this task cannot augment its inputs");
}

std::uint64_t RefinePhase::seed_for(std::int64_t member, std::int64_t use) const {
  constexpr std::uint64_t kSeedsOfARound = 611953;
  return mixed_seed(learner_.seed + static_cast<std::uint64_t>(round_) * kSeedsOfARound, member, use);
}

void RefinePhase::begin() {
  if (!members_.empty()) return;
  if (!learner_.explained) learner_.explained = explain_labels(learner_, options_);
  const auto& labels = *learner_.explained;
  if (labels.rows.size(0) == 0) {
    throw Error("refine: no label has an explanation within refine.nats; train perception longer before");
  }
  for (std::int64_t member = 0; member < options_.members; ++member) {
    const SeededWeights weights(seed_for(member, -1));
    members_.push_back(learner_.make_perception());
    if (options_.fresh) continue;
    load_module_tensors(*members_.back(), "", module_tensors(*learner_.perception, ""), "perception at hand");
  }
  network_ = members_.size() == 1 ? members_[0] : std::make_shared<Ensemble>(members_);
  learner_.refined = network_;
  const auto variables = labels.worlds.size(1);
  separable_ = members_[0]->separable();
  items_ = labels.rows.size(0) * (separable_ ? variables : 1);
  rows_of_step_ = separable_ ? options_.batch : std::max<std::int64_t>(1, options_.batch / variables);
  steps_of_member_ = options_.epochs * ((items_ + rows_of_step_ - 1) / rows_of_step_);
}

void RefinePhase::begin_member(std::int64_t member) {
  turn_ = member;
  const auto parameters = members_[static_cast<std::size_t>(member)]->parameters();
  optimizer_ = std::make_unique<Adam>(parameters, AdamOptions{.weight_decay = options_.weight_decay, .beta2 = 0.99});
  averages_.clear();
  if (options_.average == 0) return;
  for (const auto& parameter : parameters) averages_.push_back(parameter.detach().clone());
}

void RefinePhase::end_member(std::int64_t member) {
  const torch::NoGradGuard no_gradients;
  const auto parameters = members_[static_cast<std::size_t>(member)]->parameters();
  for (std::size_t place = 0; place < averages_.size(); ++place) parameters[place].copy_(averages_[place]);
  averages_.clear();
  optimizer_.reset();
}

const torch::Tensor& RefinePhase::order_of(std::int64_t epoch) {
  if (epoch != order_epoch_) {
    const auto seed = seed_for(epoch / options_.epochs, 2 * (epoch % options_.epochs));
    order_ = torch::randperm(items_, seeded(seed), torch::kInt64);
    order_epoch_ = epoch;
  }
  return order_;
}

StepLosses RefinePhase::step(std::int64_t index) {
  const auto member = index / steps_of_member_, within = index % steps_of_member_, per_epoch = steps_per_epoch();
  if (!optimizer_) begin_member(member);
  const auto begin = within % per_epoch * rows_of_step_;
  const auto items = order_of(index / per_epoch).slice(0, begin, std::min(begin + rows_of_step_, items_));
  const auto& labels = *learner_.explained;

  torch::Tensor inputs, targets;
  if (separable_) {
    const auto variables = labels.worlds.size(1);
    const auto example = items.div(variables, "floor"), variable = items.remainder(variables);
    inputs = learner_.training->inputs_of(labels.rows.index_select(0, example), variable);  // [rows, 1, …]
    targets = labels.marginals.defined()
                  ? labels.marginals.view({-1, labels.marginals.size(2)}).index_select(0, items).unsqueeze(1)
                  : labels.worlds.view(-1).index_select(0, items).unsqueeze(1);
  } else {
    inputs = learner_.training->inputs(labels.rows.index_select(0, items));
    targets = (labels.marginals.defined() ? labels.marginals : labels.worlds).index_select(0, items);
  }
  if (options_.augment) inputs = learner_.augment(inputs, seeded(seed_for(member, 2 * within + 1)));

  auto& network = *members_[static_cast<std::size_t>(member)];
  network.train();
  optimizer_->zero_gradients();
  const auto loss =
      smoothed_cross_entropy(network.forward(inputs), targets, faded(options_.smoothing, within, steps_of_member_));
  const auto value = loss.item<double>();
  if (!std::isfinite(value)) throw Error("refine: the loss is not a finite number; a lower refine.lr may help");
  loss.backward();
  const auto rate = options_.schedule.at(within, steps_of_member_);
  optimizer_->step(rate.learning_rate, rate.beta1);
  if (!averages_.empty()) {
    const torch::NoGradGuard no_gradients;
    // At the start the average of what there is, so that the first weights do not linger.
    const auto keep = std::min(options_.average, static_cast<double>(within + 1) / static_cast<double>(within + 10));
    const auto parameters = network.parameters();
    for (std::size_t place = 0; place < averages_.size(); ++place) averages_[place].lerp_(parameters[place], 1 - keep);
  }
  if (within + 1 == steps_of_member_) end_member(member);
  return {.loss = value};
}

NamedTensors RefinePhase::state() const {
  // What another round took over is not this one's any more.
  if (members_.empty() || learner_.refined != network_) return {};
  auto state = learner_.explained->state();
  state.merge(module_tensors(*network_, "perception."));
  if (optimizer_) {
    state["member"] = torch::tensor(turn_);
    add_with_prefix(state, "optimizer.", optimizer_->state());
  }
  for (std::size_t place = 0; place < averages_.size(); ++place) {
    state["average." + std::to_string(place)] = averages_[place];
  }
  return state;
}

void RefinePhase::load_state(const NamedTensors& state) {
  members_.clear();
  network_.reset();
  if (round_ == 0) learner_.refined.reset();  // a later round's is there only where its state is
  optimizer_.reset();
  averages_.clear();
  order_epoch_ = -1;
  if (state.empty()) return;
  learner_.explained = ExplainedLabels::from(state);
  begin();
  load_module_tensors(*network_, "perception.", state, "checkpoint");
  const auto turn = state.find("member");
  if (turn == state.end()) return;  // between members: nothing else is going on
  begin_member(turn->second.item<std::int64_t>());
  optimizer_->load_state(with_prefix(state, "optimizer."));
  for (std::size_t place = 0; place < averages_.size(); ++place) {
    const auto saved = state.find("average." + std::to_string(place));
    if (saved == state.end()) throw Error("checkpoint: the average of the weights is missing");
    averages_[place].copy_(saved->second);
  }
}

}  // namespace anesi
