#include "anesi/train/perception_step.h"

#include <cmath>
#include <limits>

#include "anesi/core/error.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/train/watch.h"

namespace anesi {
namespace {

// A probability below the smallest normal float has no gradient: there is nothing left to push against.
torch::Tensor logs_of(const torch::Tensor& beliefs) {
  return beliefs.clamp_min(std::numeric_limits<float>::min()).log();
}

// Cross-entropy from the uniform belief to each belief, summed over variables, mean over the batch.
torch::Tensor uniform_cross_entropy(const torch::Tensor& beliefs, const Space& worlds) {
  return -(uniform_beliefs(1, worlds).to(beliefs.device()) * logs_of(beliefs)).sum({1, 2}).mean();
}

// Entropy of the beliefs, summed over variables, mean over the batch.
torch::Tensor entropy_of(const torch::Tensor& beliefs) { return -(beliefs * logs_of(beliefs)).sum({1, 2}).mean(); }

}  // namespace

StepLosses perception_step(Learner& learner, const torch::Tensor& rows, const StepPlan& plan) {
  const auto& worlds = learner.shown_problem().worlds();
  const auto turns = learner.loss->in_turn();
  auto batch = learner.shown(rows, learner.generator);
  if (plan.augment) batch.inputs = learner.augment(batch.inputs, learner.generator);
  const torch::AutoGradMode gradients(plan.perception_learns);
  const auto perceive = [&] { return learner.complete(learner.perception->forward(batch.inputs), batch); };
  auto beliefs = perceive();
  if (!learner.beliefs_checked) {
    check_beliefs(beliefs, worlds);
    learner.beliefs_checked = true;
  }
  StepLosses losses;
  if (plan.q_rate) {
    const torch::AutoGradMode of_q(true);
    losses.q_loss = learner.loss->learn(beliefs, *plan.q_rate);
  }
  losses.loss = 0;
  for (std::size_t turn = 0; turn < turns.size(); ++turn) {
    if (turn > 0 && plan.perception_learns) beliefs = perceive();  // it has moved
    auto loss = turns[turn]->loss(beliefs, batch.observations);
    *losses.loss += loss.item<double>();
    if (!std::isfinite(*losses.loss)) {
      check_beliefs(beliefs, worlds);
      throw Error("training: the loss is not a finite number; a lower train.lr or q.lr may help");
    }
    if (!plan.perception_learns) continue;
    if (plan.smoothing > 0) loss = loss + plan.smoothing * uniform_cross_entropy(beliefs, worlds);
    if (plan.entropy > 0) loss = loss - plan.entropy * entropy_of(beliefs);
    auto& optimizer = learner.optimizers[turn];
    optimizer.zero_gradients();
    loss.backward();
    optimizer.step(plan.rate.learning_rate, plan.rate.beta1);
  }
  if (plan.perception_learns && learner.watched.worlds > 0) watch(learner, beliefs);
  return losses;
}

}  // namespace anesi
