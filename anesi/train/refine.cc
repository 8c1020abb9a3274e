#include "anesi/train/refine.h"

#include <cmath>
#include <limits>

#include "anesi/core/error.h"
#include "anesi/core/seeded.h"
#include "anesi/perception/ensemble.h"
#include "anesi/train/module_tensors.h"

namespace anesi {
namespace {

constexpr std::int64_t kVariablesExplainedAtOnce = 4000;

// A seed for each use of the phase's seed, far from its neighbours.
std::uint64_t seed_for(std::uint64_t seed, std::int64_t member, std::int64_t use) {
  auto mixed = (seed + 1) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(member) * 0xbf58476d1ce4e5b9U +
               static_cast<std::uint64_t>(use);
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  return mixed ^ (mixed >> 31U);
}

// Cross-entropy of certain targets, int64 [rows, variables], smoothed towards the uniform distribution.
torch::Tensor smoothed_cross_entropy(const torch::Tensor& beliefs, const torch::Tensor& targets, double smoothing) {
  // A probability below the smallest normal float has no gradient: there is nothing left to push against.
  const auto logs = beliefs.clamp_min(std::numeric_limits<float>::min()).log();
  const auto right = logs.gather(2, targets.unsqueeze(2)).mean();
  return -(1 - smoothing) * right - smoothing * logs.mean();
}

}  // namespace

NamedTensors ExplainedLabels::state() const {
  return {{"rows", rows}, {"worlds", worlds}, {"gap", torch::tensor(gap, torch::kFloat64)}};
}

ExplainedLabels ExplainedLabels::from(const NamedTensors& state) {
  for (const char* name : {"rows", "worlds", "gap"}) {
    if (!state.contains(name)) throw Error(std::string("checkpoint: ") + name + " of explained labels is missing");
  }
  return {state.at("rows"), state.at("worlds"), state.at("gap").item<double>()};
}

ExplainedLabels explain_labels(const Problem& problem, Perception& perception, const Dataset& data,
                               const RefineOptions& options, std::uint64_t seed, const QJudge* q_judge) {
  if (options.labels == "kinds") {
    const auto found =
        explain_by_kinds(problem, perception, data, options.kinds, seeded(seed_for(seed, 0, -2)), q_judge);
    return {found.rows, found.worlds, found.gap};
  }
  if (options.labels == "truth") {
    const auto known = (data.worlds != kUnset).all(1).nonzero().squeeze(1);
    return {known, data.worlds.index_select(0, known), 0};
  }
  const auto& limits = options.limits;
  const torch::NoGradGuard no_gradients;
  perception.eval();
  const auto rows = data.rows_that_hold();
  const auto step = std::max<std::int64_t>(1, kVariablesExplainedAtOnce / problem.worlds().variables());
  std::vector<torch::Tensor> kept, worlds;
  double gap = 0;
  for (std::int64_t begin = 0; begin < rows.size(0); begin += step) {
    const auto some = rows.slice(0, begin, std::min(begin + step, rows.size(0)));
    const auto batch = data.batch(some);
    const auto found =
        most_probable_worlds(problem, perception.forward(batch.inputs), batch.observations.outputs, limits);
    const auto within = (found.gap.isfinite() & (found.gap <= limits.nats)).nonzero().squeeze(1);
    kept.push_back(some.index_select(0, within));
    worlds.push_back(found.worlds.index_select(0, within));
    gap += found.gap.clamp_max(limits.nats).sum().item<double>();
  }
  if (kept.empty())
    return {torch::empty({0}, torch::kInt64), torch::empty({0, problem.worlds().variables()}, torch::kInt64), 0};
  return {torch::cat(kept), torch::cat(worlds), gap / static_cast<double>(rows.size(0))};
}

Refinement::Refinement(const RefineOptions& options, const Task& task, const Perception& at_hand, const Dataset& data,
                       ExplainedLabels labels, std::uint64_t seed)
    : options_(options), task_(task), data_(data), labels_(std::move(labels)), seed_(seed) {
  if (labels_.rows.size(0) == 0) {
    throw Error("refine: no label has an explanation within refine.nats; train perception longer before");
  }
  if (options_.augment && !task_.augment) throw UsageError("refine.augment: this task cannot augment its inputs");
  for (std::int64_t member = 0; member < options_.members; ++member) {
    const SeededWeights weights(seed_for(seed_, member, -1));
    members_.push_back(task_.make_perception());
    if (options_.fresh) continue;
    load_module_tensors(*members_.back(), "", module_tensors(at_hand, ""), "perception at hand");
  }
  whole_ = members_.size() == 1 ? members_[0] : std::make_shared<Ensemble>(members_);
  const auto variables = labels_.worlds.size(1);
  separable_ = members_[0]->separable();
  items_ = labels_.rows.size(0) * (separable_ ? variables : 1);
  rows_of_step_ = separable_ ? options_.batch : std::max<std::int64_t>(1, options_.batch / variables);
  steps_of_member_ = options_.epochs * ((items_ + rows_of_step_ - 1) / rows_of_step_);
}

void Refinement::begin_member() {
  auto& member = *members_[static_cast<std::size_t>(done_ / steps_of_member_)];
  optimizer_ =
      std::make_unique<Adam>(member.parameters(), AdamOptions{.weight_decay = options_.weight_decay, .beta2 = 0.99});
  averages_.clear();
  if (options_.average == 0) return;
  for (const auto& parameter : member.parameters()) averages_.push_back(parameter.detach().clone());
}

void Refinement::end_member() {
  const torch::NoGradGuard no_gradients;
  const auto parameters = members_[static_cast<std::size_t>((done_ - 1) / steps_of_member_)]->parameters();
  for (std::size_t place = 0; place < averages_.size(); ++place) parameters[place].copy_(averages_[place]);
  averages_.clear();
  optimizer_.reset();
}

const torch::Tensor& Refinement::order() {
  const auto epoch = done_ / steps_per_epoch();
  if (epoch != order_epoch_) {
    order_ = torch::randperm(items_, seeded(seed_for(seed_, epoch / options_.epochs, 2 * (epoch % options_.epochs))),
                             torch::kInt64);
    order_epoch_ = epoch;
  }
  return order_;
}

double Refinement::step() {
  if (!optimizer_) begin_member();
  const auto member = done_ / steps_of_member_, within = done_ % steps_of_member_, per_epoch = steps_per_epoch();
  const auto begin = within % per_epoch * rows_of_step_;
  const auto items = order().slice(0, begin, std::min(begin + rows_of_step_, items_));

  torch::Tensor inputs, targets;
  if (separable_) {
    const auto variables = labels_.worlds.size(1);
    const auto example = items.div(variables, "floor"), variable = items.remainder(variables);
    inputs = data_.variables(labels_.rows.index_select(0, example), variable);  // [rows, 1, …]
    targets = labels_.worlds.view(-1).index_select(0, items).unsqueeze(1);
  } else {
    inputs = data_.batch(labels_.rows.index_select(0, items)).inputs;
    targets = labels_.worlds.index_select(0, items);
  }
  if (options_.augment) inputs = task_.augment(inputs, seeded(seed_for(seed_, member, 2 * within + 1)));

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
  ++done_;
  if (!averages_.empty()) {
    const torch::NoGradGuard no_gradients;
    // At the start the average of what there is, so that the first weights do not linger.
    const auto keep = std::min(options_.average, static_cast<double>(within + 1) / static_cast<double>(within + 10));
    const auto parameters = network.parameters();
    for (std::size_t place = 0; place < averages_.size(); ++place) averages_[place].lerp_(parameters[place], 1 - keep);
  }
  if (done_ % steps_of_member_ == 0) end_member();
  return value;
}

NamedTensors Refinement::state() const {
  auto state = labels_.state();
  state["done"] = torch::tensor(done_);
  state.merge(module_tensors(*whole_, "perception."));
  if (optimizer_) add_with_prefix(state, "optimizer.", optimizer_->state());
  for (std::size_t place = 0; place < averages_.size(); ++place) {
    state["average." + std::to_string(place)] = averages_[place];
  }
  return state;
}

void Refinement::load_state(const NamedTensors& state) {
  if (!state.contains("done")) throw Error("checkpoint: how far refinement came is missing");
  load_module_tensors(*whole_, "perception.", state, "checkpoint");
  done_ = state.at("done").item<std::int64_t>();
  if (done_ % steps_of_member_ == 0) return;  // between members: nothing else is going on
  begin_member();
  optimizer_->load_state(with_prefix(state, "optimizer."));
  for (std::size_t place = 0; place < averages_.size(); ++place) {
    const auto saved = state.find("average." + std::to_string(place));
    if (saved == state.end()) throw Error("checkpoint: the average of the weights is missing");
    averages_[place].copy_(saved->second);
  }
}

std::shared_ptr<Perception> refined_perception(const RefineOptions& options, const Task& task) {
  if (options.epochs == 0 || options.members == 1) return task.make_perception();
  std::vector<std::shared_ptr<Perception>> members;
  for (std::int64_t member = 0; member < options.members; ++member) members.push_back(task.make_perception());
  return std::make_shared<Ensemble>(std::move(members));
}

}  // namespace anesi
