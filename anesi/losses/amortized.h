// The A-NeSI loss: -log q(y|P), with a q that is learned from samples of c alone (sections 3.1 and 3.2 of the paper).
//
// Its variants are the paper's. `predict` learns q(y|P) by cross-entropy on sampled outputs. `explain` also learns
// q(w|y,P), by matching the joint q(w,y|P) to p(w|P), which is known in closed form. `prune` does that under a symbolic
// pruner, so that everything q samples or decodes satisfies the knowledge.
#pragma once

#include <memory>

#include "anesi/core/problem.h"
#include "anesi/losses/query_loss.h"
#include "anesi/models/inference_model.h"
#include "anesi/models/prune.h"
#include "anesi/optimize/adam.h"
#include "anesi/optimize/schedule.h"
#include "anesi/options/option_table.h"
#include "anesi/priors/prior.h"

namespace anesi {

struct AmortizedOptions {
  Schedule schedule;
  double joint_lr = 0;
  std::int64_t samples = 600, chunk = 0;
  bool frozen = false, perceived = false, queries = true;
  std::int64_t trace = 0;
  double trace_weight = 0.3;
  std::string variant = "predict";
  std::string matching = "joint";
  std::string policy = "off";
  double on_policy_weight = 1, prediction_weight = 0, temperature = 1, clip = 0;
  std::string precision = "f32";  // or bf16; said by train.precision

  bool explains() const { return variant != "predict"; }
  bool prunes() const { return variant == "prune"; }

  void describe(OptionTable& table) {
    schedule.describe(table);
    table.add("joint_lr", joint_lr, {0, 10},
              "learning rate at which the schedule begins anew when perception starts to learn, and once more when "
              "it is refined (refine.q_steps); 0: it goes on");
    table.add("samples", samples, {1, 1000000}, "beliefs sampled for an update of q");
    table.add(
        "chunk", chunk, {0, 1000000000},
        "sampled output values that go through q at once, so that its activations stay in the caches; 0: all. Changes "
        "results by rounding alone, and what is drawn where q's own samples are learned from");
    table.add("frozen", frozen, "train q before perception only, not beside it");
    table.add("perceived", perceived, "learn from the beliefs that perception emits too, beside those of the prior");
    table.add("queries", queries,
              "ask random questions of sampled worlds, where the problem has such, not its own alone");
    table.add("variant", variant, {"predict", "explain", "prune"},
              "q(y|P) alone; with an explanation model q(w|y,P); and with the problem's pruner");
    table.add(
        "matching", matching, {"joint", "forward_kl"},
        "how an explanation model learns: by the paper's joint matching, or by maximum likelihood of sampled worlds");
    table.add("policy", policy, {"off", "on", "both"},
              "where joint matching takes its worlds from: the prior's beliefs, q itself, or both");
    table.add("on_policy_weight", on_policy_weight, {0, 1000}, "of q's own samples where policy is both");
    table.add("prediction_weight", prediction_weight, {0, 1000},
              "of the prediction model's cross-entropy beside joint matching");
    table.add("temperature", temperature, {0.01, 100}, "at which q's own samples are drawn");
    table.add("trace", trace, {0, 1000000},
              "intermediate results of c that q is told of each sampled world, drawn at random; 0: none");
    table.add("trace_weight", trace_weight, {0, 1000}, "of each of them beside the output");
    table.add("clip", clip, {0, 1000000}, "largest norm of an update's gradient; 0: no limit");
  }
};

// What q learns from in a step.
struct Exercise {
  torch::Tensor beliefs, worlds, outputs;  // with outputs = c(worlds)
  torch::Tensor queries = {}, trace = {};  // undefined where the problem has none

  Exercise rows(std::int64_t begin, std::int64_t end) const;
  Context context() const { return {beliefs, {}, queries}; }
};

// How often q will be updated before perception learns, beside it and after it, for its schedule.
struct UpdateCounts {
  UpdateCounts(std::int64_t alone, std::int64_t with_perception = 0,  // NOLINT(google-explicit-constructor)
               std::int64_t after_perception = 0)
      : before(alone), beside(with_perception), after(after_perception) {}

  std::int64_t before, beside, after;

  std::int64_t all() const { return before + beside + after; }
};

class AmortizedLoss final : public QueryLoss {
 public:
  // The problem outlives it.
  AmortizedLoss(const Problem& problem, InferenceModel model, std::unique_ptr<BeliefPrior> prior,
                AmortizedOptions options, UpdateCounts updates, at::Generator generator);

  // Algorithm 1: fits the prior, samples beliefs from it and worlds from them, applies c, and takes one step on q, on
  // `more` beliefs too where they are given. Returns the loss.
  double update(const torch::Tensor& more = {});
  // The last part of it: one step on what was sampled.
  double update_on(const Exercise& exercise);

  double learn(const torch::Tensor& beliefs) override;
  torch::Tensor loss(const torch::Tensor& beliefs, const Observations& observations) override;
  NamedTensors state() const override;
  void load_state(const NamedTensors& state) override;

  const InferenceModel& model() const { return model_; }
  BeliefPrior& prior() { return *prior_; }

 private:
  // log q(y|P) as it is learned: under the pruner where q has an explanation model to learn beside it.
  torch::Tensor prediction(const Context& context, const torch::Tensor& outputs);
  // What update_on minimises.
  torch::Tensor q_loss(const Exercise& exercise);
  // Of the step that comes next.
  Schedule::Rate rate() const;

  const Problem& problem_;
  InferenceModel model_;
  std::unique_ptr<BeliefPrior> prior_;
  AmortizedOptions options_;
  std::unique_ptr<Pruner> pruner_;    // null unless the variant prunes
  std::unique_ptr<Pruning> pruning_;  // null with it
  bool matches_;                      // whether an explanation model is learned too
  Adam optimizer_;
  UpdateCounts updates_;
  std::int64_t step_ = 0;
  at::Generator generator_;
};

// (log q - log p)^2 for each row, where log p may be -inf: there the residual is taken as a constant number of nats, so
// that its gradient still lowers q.
torch::Tensor squared_log_ratio(const torch::Tensor& log_q, const torch::Tensor& log_p);

}  // namespace anesi
