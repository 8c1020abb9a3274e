// Trainings of some dozen steps: a lambda, numbers for inputs, a small network and a learner.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "anesi/losses/rloo.h"
#include "anesi/models/architecture.h"
#include "anesi/priors/priors.h"
#include "anesi/tensors/named_tensors.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/stop_after.h"
#include "anesi/testing/toy_problems.h"
#include "anesi/train/train.h"
#include "anesi/train/trainer.h"

namespace anesi::toys {

// Looks at a number. The dropout makes what it learns depend on torch's own generator.
class Sensor final : public Perception {
 public:
  explicit Sensor(double dropout = 0.1)
      : layers_(
            register_module("layers", torch::nn::Sequential(torch::nn::Linear(1, 16), torch::nn::Tanh(),
                                                            torch::nn::Dropout(dropout), torch::nn::Linear(16, 3)))) {}
  torch::Tensor forward(const torch::Tensor& inputs) override {
    return layers_->forward(inputs.unsqueeze(-1)).softmax(-1);
  }
  bool separable() const override { return true; }

 private:
  torch::nn::Sequential layers_;
};

// Worlds of two variables of three values; inputs are those values, a little blurred, and labels are sums.
inline std::shared_ptr<const Examples> blurred_sums(std::int64_t count, std::uint64_t seed) {
  const auto worlds = torch::randint(3, {count, 2}, seeded(seed), torch::kInt64);
  const auto inputs = worlds.to(torch::kFloat32) + 0.1 * torch::randn({count, 2}, seeded(seed + 1));
  return tensor_examples(inputs, worlds.sum(1, /*keepdim=*/true), worlds);
}

// What is trained, and how.
struct Plan {
  std::string name;
  TrainOptions train = {.epochs = 2, .batch = 4};
  QOptions q = {.pretrain = 3};
  RefineOptions refine = {};
  std::string prior = "fixed";
  std::uint64_t seed = 3;
  std::string architecture = "mlp";
  std::vector<std::string> settings = {"layers=1", "width=8"};
  bool rloo_in_turn = false;  // perception steps by drawing worlds too, after each step through q

  friend void PrintTo(const Plan& plan, std::ostream* out) { *out << plan.name; }
};

struct Tiny {
  explicit Tiny(const Plan& plan = {})
      : learner(
            sum_of_two(), [] { return std::make_shared<Sensor>(); }, blurred_sums(12, 1), plan.seed) {
    PriorOptions common;
    common.fit.window = 20;
    auto prior = priors().find(plan.prior).choose()->make(learner.problem->worlds(), common);
    const auto q = [&] {
      const SeededWeights weights(plan.seed + 1);
      return make_model(*learner.problem, plan.architecture, /*explain=*/false, plan.settings);
    }();
    learner.learn_through(q, {.samples = 8}, std::move(prior));
    if (plan.rloo_in_turn) {
      learner.loss = std::make_unique<TwoLosses>(
          std::move(learner.loss),
          std::make_unique<RlooLoss>(learner.problem, RlooOptions{.samples = 2}, learner.generator), /*weight=*/1,
          /*in_turn=*/true);
    }
    trainer = std::make_unique<Trainer>(learner, usual_phases(learner, plan.train, plan.q, plan.refine));
  }
  Tiny(const Tiny&) = delete;  // phases refer to the learner
  Tiny& operator=(const Tiny&) = delete;

  Learner learner;
  std::unique_ptr<Trainer> trainer;
};

// All but how long it took.
inline bool same_state(NamedTensors one, NamedTensors other) {
  for (auto* state : {&one, &other}) state->at("sums") = state->at("sums").slice(0, 0, 4);
  if (one.size() != other.size()) return false;
  for (const auto& [name, tensor] : one) {
    const auto place = other.find(name);
    if (place == other.end() || !torch::equal(tensor, place->second)) return false;
  }
  return true;
}

inline Plan every_phase() {
  Plan plan{.name = "every_phase"};
  plan.train.starts = 3;
  plan.train.start_steps = 8;
  plan.train.smoothing = 0.1;
  plan.train.entropy = 0.01;
  plan.train.weight_decay = 0.01;
  plan.q.joint_lr = 0.002;
  plan.refine.epochs = 2;
  plan.refine.batch = 8;
  plan.refine.members = 2;
  plan.refine.q_steps = 3;
  return plan;
}

inline Plan fitted_prior() {
  auto plan = every_phase();
  plan.name = "fitted_prior";
  plan.prior = "fitted";
  plan.q.every = 2;
  plan.q.joint_lr = 0;
  plan.refine.average = 0.9;
  plan.refine.fresh = false;
  return plan;
}

// No start explains labels well enough, so all of them are made and the best is taken.
inline Plan impatient() {
  Plan plan{.name = "impatient"};
  plan.seed = 5;  // of which the last start is not the best
  plan.q.frozen = true;
  plan.refine.epochs = 1;
  plan.refine.batch = 8;
  plan.refine.restarts = 2;
  plan.refine.restart_gap = 1e-9;
  return plan;
}

// Through q and by drawing worlds in turn.
inline Plan in_turn() {
  auto plan = every_phase();
  plan.name = "in_turn";
  plan.rloo_in_turn = true;
  return plan;
}

// From kinds, and then twice through q and its soft explanations.
inline Plan in_rounds() {
  Plan plan{.name = "in_rounds"};
  plan.architecture = "transducer";
  plan.settings = {"states=3"};
  plan.prior = "certain";
  plan.q.frozen = true;
  plan.train.start = StartFrom::kKinds;
  plan.train.kinds_start = {.kinds = 4, .components = 1, .tables = 2, .tries = 2, .passes = 3, .batch = 6, .epochs = 2};
  plan.refine.labels = LabelsBy::kMarginals;
  plan.refine.rounds = 2;
  plan.refine.epochs = 2;
  plan.refine.batch = 8;
  plan.refine.members = 2;
  return plan;
}

}  // namespace anesi::toys
