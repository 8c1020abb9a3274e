// The A-NeSI loss: -log q(y|P), with a q that is learned from samples of c alone (sections 3.1 and 3.2 of the paper).
//
// Its variants are the paper's. `predict` learns q(y|P) by cross-entropy on sampled outputs. `explain` also learns
// q(w|y,P), by matching the joint q(w,y|P) to p(w|P), which is known in closed form. `prune` does that under a symbolic
// pruner, so that everything q samples or decodes satisfies the knowledge.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "anesi/core/known_variables.h"
#include "anesi/core/problem.h"
#include "anesi/losses/loss.h"
#include "anesi/losses/partners.h"
#include "anesi/losses/solutions.h"
#include "anesi/models/inference_model.h"
#include "anesi/models/prune.h"
#include "anesi/models/sample.h"
#include "anesi/optimize/adam.h"
#include "anesi/options/option_table.h"
#include "anesi/priors/prior.h"

namespace anesi {

enum class Variant { kPredict, kExplain, kPrune };
constexpr std::array<std::string_view, 3> names_of(Variant) { return {"predict", "explain", "prune"}; }

enum class Matching { kJoint, kForwardKl };
constexpr std::array<std::string_view, 2> names_of(Matching) { return {"joint", "forward_kl"}; }

enum class Policy { kOff, kOn, kBoth, kSolutions };
constexpr std::array<std::string_view, 4> names_of(Policy) { return {"off", "on", "both", "solutions"}; }

enum class Precision { kF32, kBf16 };
constexpr std::array<std::string_view, 2> names_of(Precision) { return {"f32", "bf16"}; }

struct AmortizedOptions {
  std::int64_t samples = 600, chunk = 0;
  bool perceived = false;
  std::int64_t trace = 0;
  double trace_weight = 0.3;
  Variant variant = Variant::kPredict;
  Matching matching = Matching::kJoint;
  Policy policy = Policy::kOff;
  std::int64_t worlds = 1, counted = 0;
  double on_policy_weight = 1, prediction_weight = 0, temperature = 1, clip = 0;
  Precision precision = Precision::kF32;  // of q's matrix products; not described here: perception's is said with it

  bool explains() const { return variant != Variant::kPredict; }
  bool prunes() const { return variant == Variant::kPrune; }

  void describe(OptionTable& table) {
    table.add("samples", samples, {1, 1000000}, "beliefs sampled for an update of q");
    table.add(
        "chunk", chunk, {0, 1000000000},
        "sampled output values that go through q at once, so that its activations stay in the caches; 0: all. Changes "
        "results by rounding alone, and what is drawn where q's own samples are learned from");
    table.add("perceived", perceived, "learn from the beliefs that perception emits too, beside those of the prior");
    table.add("variant", variant, "q(y|P) alone; with an explanation model q(w|y,P); and with the problem's pruner");
    table.add(
        "matching", matching,
        "how an explanation model learns: by the paper's joint matching, or by maximum likelihood of sampled worlds");
    table.add(
        "policy", policy,
        "where joint matching takes its worlds from: the prior's beliefs, q itself, or both; or, where all labels "
        "are about one output that few worlds give, solutions under the pruner, with beliefs around them");
    table.add("worlds", worlds, {1, 10000},
              "worlds that q draws of each belief where it learns from its own: with several, explanations are matched "
              "with each other and the prediction with their mean, which is less noisy");
    table.add(
        "counted", counted, {0, 1000000},
        "worlds that q draws of each example, by which perception's loss is counted (importance sampling) instead "
        "of read from q; 0: read from q. Needs an explanation model");
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
  torch::Tensor trace = {};                // undefined where the problem has none
  bool solutions = false;                  // whether worlds are distributed as p(w|y,P) (solutions.h)

  Exercise rows(std::int64_t begin, std::int64_t end) const;
  Context context() const { return beliefs; }
};

// q is at rest but for its updates: in evaluation mode, and its weights ask for no gradient. So perception's backward
// pass computes none of theirs, and several threads may ask q without changing it.
class AmortizedLoss final : public Loss {
 public:
  // The prior is over perceived_space(problem). Throws UsageError where q is to be pruned and the problem has no
  // pruner, where it is to learn from solutions and there is no output that all labels are about, or from chunks and it
  // normalises by the batch.
  AmortizedLoss(std::shared_ptr<const Problem> problem, InferenceModel model, std::unique_ptr<BeliefPrior> prior,
                AmortizedOptions options, at::Generator generator);

  // Algorithm 1: fits the prior, samples beliefs from it and worlds from them, applies c, and takes one step on q, on
  // `more` beliefs too where they are given. Returns the loss.
  double update(const Rate& rate, const torch::Tensor& more = {});
  // The last part of it: one step on what was sampled.
  double update_on(const Exercise& exercise, const Rate& rate);

  torch::Tensor loss(const torch::Tensor& beliefs, const Observations& observations) override;
  // Of each example, [batch]; minus its mean is the loss. Logarithms of the beliefs are as observed_log_prob() takes
  // them.
  torch::Tensor log_likelihood(const torch::Tensor& beliefs, const Observations& observations,
                               const LogBeliefs* logs = nullptr);
  // The prior takes note of the beliefs, unless they are undefined, then q is updated.
  std::optional<double> learn(const torch::Tensor& beliefs, const Rate& rate) override;
  NamedTensors state() const override;
  void load_state(const NamedTensors& state) override;

  const InferenceModel& model() const { return model_; }
  BeliefPrior& prior() { return *prior_; }

  // From here on each update is shared with the same loss in other processes. Throws UsageError where q learns from its
  // own samples, or normalises by the batch: what is drawn, or a part of the batch, differs from process to process.
  void join(Partners partners);
  // Computes in this type, f32 or f64, from here on.
  void to(torch::ScalarType type);

 private:
  // log q(y|P) as it is learned: under the pruner where q has an explanation model to learn beside it.
  torch::Tensor prediction(const Context& context, const torch::Tensor& outputs);
  // Beliefs from the prior with a world of each, certain of what inputs tell.
  SampledWorlds sample_prior();
  // What q's own worlds are drawn for: its own outputs, or the one that all labels are about.
  Samples outputs_to_explain(SequenceModel& predict, const Context& context);
  // Joint matching on worlds that q draws itself (appendix E.2: the gradient of the drawing is ignored).
  torch::Tensor on_policy_loss(const Exercise& exercise);
  // What update_on minimises.
  torch::Tensor q_loss(const Exercise& exercise);

  std::shared_ptr<const Problem> problem_;
  InferenceModel model_;
  std::unique_ptr<BeliefPrior> prior_;
  AmortizedOptions options_;
  std::unique_ptr<Pruning> pruning_;  // null unless the variant prunes
  bool matches_;                      // whether an explanation model is learned too
  Adam optimizer_;
  at::Generator generator_;
  Partners partners_;
  std::optional<Solutions> solutions_;  // where they are learned from
  torch::ScalarType type_ = torch::kFloat32;
};

// (log q - log p)^2 for each row, where log p may be -inf: there the residual is taken as a constant number of nats, so
// that its gradient still lowers q.
torch::Tensor squared_log_ratio(const torch::Tensor& log_q, const torch::Tensor& log_p);

}  // namespace anesi
