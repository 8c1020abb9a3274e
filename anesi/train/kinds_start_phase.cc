#include "anesi/train/kinds_start_phase.h"

#include <cmath>
#include <limits>

#include "anesi/core/error.h"
#include "anesi/models/module_tensors.h"
#include "anesi/tensors/seeded.h"
#include "anesi/train/cluster.h"

namespace anesi {
namespace {

constexpr std::int64_t kInputsAtOnce = 4000, kFitBatch = 128;
constexpr std::int64_t kInputsForComponents = 20000, kInputsClustered = 10000;
constexpr double kMixedPart = 0.7;     // of the passes, from the start
constexpr double kTrustInTable = 0.9;  // of perception's targets; the rest is spread evenly
constexpr double kFitRate = 0.003, kFitDecay = 0.05, kFirstSpread = 0.3;
constexpr std::uint64_t kOrderSeeds = 15485863, kTableSeeds = 32452843;

}  // namespace

KindsStartPhase::KindsStartPhase(Learner& learner, const KindsStartOptions& options)
    : learner_(learner), options_(options) {
  if (!learner.perception->separable()) {
    throw UsageError("train.start=kinds: perception does not look at variables one by one");
  }
  if (!learner.problem->worlds().all_domains_equal()) {
    throw UsageError("train.start=kinds: variables have different domains");
  }
  if (learner.pieces) throw UsageError("train.start=kinds: not from pieces of examples; set train.pieces=false");
  const auto examples = learner.rows.size(0), variables = learner.problem->worlds().variables();
  steps_per_pass_ = (examples + options.batch - 1) / options.batch;
  fit_steps_per_epoch_ = (examples * variables + kFitBatch - 1) / kFitBatch;
  fit_steps_ = options.epochs * fit_steps_per_epoch_;
}

void KindsStartPhase::begin() {
  if (!kinds_.defined()) sort_into_kinds();
}

void KindsStartPhase::sort_into_kinds() {
  const torch::NoGradGuard no_gradients;
  const auto& data = *learner_.training;
  const auto variables = learner_.problem->worlds().variables();
  const auto step = std::max<std::int64_t>(1, kInputsAtOnce / variables);
  const auto generator = seeded(learner_.seed + kTableSeeds);
  std::vector<torch::Tensor> parts;
  for (const auto& some : torch::arange(data.size(), torch::kInt64).split(step)) {
    parts.push_back(data.inputs(some).to(torch::kFloat32).reshape({some.size(0) * variables, -1}));
  }
  const auto inputs = torch::cat(parts);  // [examples * variables, numbers of an input]
  const auto some = torch::randperm(inputs.size(0), generator, torch::kInt64).slice(0, 0, kInputsForComponents);
  const auto sample = inputs.index_select(0, some);
  const auto middle = sample.mean(0);
  const auto spread = (sample - middle).t().mm(sample - middle);
  const auto main = std::get<1>(torch::linalg_eigh(spread)).slice(1, -std::min(options_.components, spread.size(0)));
  const auto points = (inputs - middle).mm(main);
  const auto centres = cluster(points.index_select(0, some.slice(0, 0, kInputsClustered)), options_.kinds, generator);
  std::vector<torch::Tensor> kinds;
  for (const auto& part : points.split(kInputsForComponents)) kinds.push_back(nearest(part, centres));
  kinds_ = torch::cat(kinds).view({data.size(), variables});
  const auto apart = torch::cdist(centres, centres).square().to(torch::kFloat64);
  const auto weights = (-apart / (2 * options_.likeness * apart.median() + 1e-30)).exp();
  likeness_ = weights / weights.sum(1, /*keepdim=*/true);
}

void KindsStartPhase::begin_table(std::uint64_t which) {
  const auto domain = learner_.problem->worlds().largest_domain();
  const auto generator = seeded(learner_.seed + kTableSeeds * (which + 2));
  logits_ = kFirstSpread * torch::randn({options_.kinds, domain}, generator, torch::kFloat64);
  logits_.requires_grad_();
  optimizer_ = std::make_unique<Adam>(std::vector<torch::Tensor>{logits_}, AdamOptions{});
}

torch::Tensor KindsStartPhase::table_beliefs(bool mixed) const {
  return (mixed ? likeness_.mm(logits_) : logits_).softmax(1);
}

const torch::Tensor& KindsStartPhase::order_of(std::int64_t pass, std::int64_t size) {
  const auto key = 2 * pass + (fitting_ ? 1 : 0);
  if (key != order_key_) {
    order_ =
        torch::randperm(size, seeded(learner_.seed * kOrderSeeds + static_cast<std::uint64_t>(key)), torch::kInt64);
    order_key_ = key;
  }
  return order_;
}

StepLosses KindsStartPhase::step(std::int64_t index) {
  return index < table_steps() ? table_step(index) : fit_step(index - table_steps());
}

StepLosses KindsStartPhase::table_step(std::int64_t index) {
  const auto compared = options_.tables * steps_of_try();
  const bool trying = index < compared;
  const auto within = trying ? index % steps_of_try() : index - compared + steps_of_try();
  if (trying && within == 0) begin_table(static_cast<std::uint64_t>(index / steps_of_try()));
  const auto pass = within / steps_per_pass_, place = within % steps_per_pass_ * options_.batch;
  const auto& order = order_of(pass, learner_.rows.size(0));
  const auto rows =
      learner_.rows.index_select(0, order.slice(0, place, std::min(place + options_.batch, order.size(0))));

  const bool mixed = static_cast<double>(pass) < kMixedPart * static_cast<double>(options_.passes);
  const auto kinds = kinds_.index_select(0, rows);
  const auto table = table_beliefs(mixed).to(torch::kFloat32);
  const auto beliefs = table.index_select(0, kinds.view(-1)).view({kinds.size(0), kinds.size(1), -1});
  optimizer_->zero_gradients();
  const auto loss = learner_.loss->loss(beliefs, learner_.training->labels().rows(rows));
  const auto value = loss.item<double>();
  if (!std::isfinite(value)) throw Error("start: the loss is not a finite number; a lower start.lr may help");
  loss.backward();
  optimizer_->step(options_.lr, 0.9);
  if (trying) {
    if (pass + 1 == options_.tries) loss_ += value;
    if (within + 1 == steps_of_try()) {
      if (!best_logits_.defined() || loss_ < best_loss_) {
        best_logits_ = logits_.detach().clone();
        best_loss_ = loss_;
      }
      loss_ = 0;
    }
    if (index + 1 == compared) {
      logits_ = best_logits_.clone().requires_grad_();
      optimizer_ = std::make_unique<Adam>(std::vector<torch::Tensor>{logits_}, AdamOptions{});
    }
  }
  return {.loss = value};
}

StepLosses KindsStartPhase::fit_step(std::int64_t index) {
  if (!fitting_) {
    fitting_ = true;
    optimizer_ = std::make_unique<Adam>(learner_.perception->parameters(), AdamOptions{.weight_decay = kFitDecay});
  }
  const auto variables = learner_.problem->worlds().variables(), items = learner_.rows.size(0) * variables;
  const auto place = index % fit_steps_per_epoch_ * kFitBatch;
  const auto& order = order_of(index / fit_steps_per_epoch_, items);
  const auto some = order.slice(0, place, std::min(place + kFitBatch, items));
  const auto rows = learner_.rows.index_select(0, some.div(variables, "floor")), variable = some.remainder(variables);
  const auto domain = static_cast<double>(learner_.problem->worlds().largest_domain());
  const auto table = kTrustInTable * table_beliefs(/*mixed=*/false).detach() + (1 - kTrustInTable) / domain;
  const auto kinds = kinds_.view(-1).index_select(0, rows * variables + variable);
  const auto targets = table.to(torch::kFloat32).index_select(0, kinds);

  learner_.perception->train();
  optimizer_->zero_gradients();
  const auto beliefs = learner_.perception->forward(learner_.training->inputs_of(rows, variable)).squeeze(1);
  const auto loss = -(targets * beliefs.clamp_min(std::numeric_limits<float>::min()).log()).sum(1).mean();
  loss.backward();
  optimizer_->step(kFitRate, 0.9);
  if (index + 1 == fit_steps_) {
    learner_.make_optimizers();  // what it remembers is of other weights
    optimizer_.reset();
  }
  return {.loss = loss.item<double>()};
}

std::optional<Evaluation> KindsStartPhase::evaluate() { return fitting_ ? learner_.evaluate() : std::nullopt; }

NamedTensors KindsStartPhase::state() const {
  NamedTensors state;
  if (!kinds_.defined()) return state;
  state["kinds"] = kinds_;
  state["likeness"] = likeness_;
  if (logits_.defined()) state["logits"] = logits_.detach();
  if (best_logits_.defined()) state["best.logits"] = best_logits_;
  state["losses"] = torch::tensor({loss_, best_loss_}, torch::kFloat64);
  state["fitting"] = torch::tensor(fitting_);
  if (optimizer_) add_with_prefix(state, "optimizer.", optimizer_->state());
  return state;
}

void KindsStartPhase::load_state(const NamedTensors& state) {
  kinds_ = likeness_ = logits_ = best_logits_ = torch::Tensor();
  optimizer_.reset();
  order_key_ = -1;
  fitting_ = false;
  loss_ = best_loss_ = 0;
  if (state.empty()) return;
  kinds_ = state.at("kinds");
  likeness_ = state.at("likeness");
  if (state.contains("logits")) logits_ = state.at("logits").clone().requires_grad_();
  if (state.contains("best.logits")) best_logits_ = state.at("best.logits");
  loss_ = state.at("losses")[0].item<double>();
  best_loss_ = state.at("losses")[1].item<double>();
  fitting_ = state.at("fitting").item<bool>();
  if (const auto optimizer = with_prefix(state, "optimizer."); !optimizer.empty()) {
    optimizer_ = fitting_
                     ? std::make_unique<Adam>(learner_.perception->parameters(), AdamOptions{.weight_decay = kFitDecay})
                     : std::make_unique<Adam>(std::vector<torch::Tensor>{logits_}, AdamOptions{});
    optimizer_->load_state(optimizer);
  }
}

}  // namespace anesi
