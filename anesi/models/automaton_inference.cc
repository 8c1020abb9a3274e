#include "anesi/models/automaton_inference.h"

#include "anesi/exact/automaton_backend.h"
#include "anesi/models/automaton_posterior.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

class AutomatonPrediction final : public SequenceModel {
 public:
  AutomatonPrediction(std::shared_ptr<const Automaton> automaton, std::shared_ptr<const ExactInference> exact,
                      const Space& outputs)
      : SequenceModel(outputs, automaton->reading().emitted()),
        automaton_(std::move(automaton)),
        exact_(std::move(exact)) {}

  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override {
    return exact_->log_prob(context.beliefs, values);
  }
  std::unique_ptr<Rollout> begin(const Context& context) override {
    const auto logs = LogBeliefs::of(context.beliefs).logs.contiguous();
    return begin_prediction({automaton_, belief_rows_of(logs)}, context.beliefs.options());
  }
  bool rollouts_have_gradients() const override { return false; }
  bool multilinear() const override { return true; }

 private:
  std::shared_ptr<const Automaton> automaton_;
  std::shared_ptr<const ExactInference> exact_;
};

class AutomatonExplanation final : public SequenceModel {
 public:
  AutomatonExplanation(std::shared_ptr<const Automaton> automaton, std::shared_ptr<const ExactInference> exact)
      : SequenceModel(exact->worlds(), automaton->reading().read()),
        automaton_(std::move(automaton)),
        exact_(std::move(exact)) {}

  // p(w|y,P) = p(w|P) p(y|w) / p(y|P), where p(y|w) is one or zero.
  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override {
    const auto agrees = exact_->log_prob(certain_beliefs(values, space()), context.outputs);
    return world_log_prob(context.beliefs, values) + agrees - exact_->log_prob(context.beliefs, context.outputs);
  }
  std::unique_ptr<Rollout> begin(const Context& context) override {
    const auto logs = LogBeliefs::of(context.beliefs).logs.contiguous();
    const auto outputs = context.outputs.to(torch::kCPU).contiguous();
    return begin_explanation({automaton_, belief_rows_of(logs), rows_of(outputs)}, context.beliefs.options());
  }
  bool rollouts_have_gradients() const override { return false; }
  std::optional<MostProbable> most_probable(const Context& context) override {
    return exact_->most_probable(context.beliefs, context.outputs);
  }
  std::optional<Ranked> most_probable(const Context& context, std::int64_t top) override {
    return exact_->explain(LogBeliefs::of(context.beliefs), context.outputs, top);
  }

 private:
  std::shared_ptr<const Automaton> automaton_;
  std::shared_ptr<const ExactInference> exact_;
};

}  // namespace

torch::Tensor outputs_of(const Automaton& automaton, const torch::Tensor& worlds) {
  const auto rows = worlds.to(torch::kCPU).contiguous();
  return tensor_of(automaton.run(rows_of(rows)).rows());
}

std::unique_ptr<ExactInference> make_automaton_inference(std::shared_ptr<const Automaton> automaton) {
  return std::make_unique<ExactInference>(std::shared_ptr<const Backend>(make_automaton_backend(std::move(automaton))));
}

InferenceModel make_automaton_model(const std::shared_ptr<const Automaton>& automaton, const Space& outputs) {
  return make_automaton_model(automaton, make_automaton_inference(automaton), outputs);
}

InferenceModel make_automaton_model(const std::shared_ptr<const Automaton>& automaton,
                                    const std::shared_ptr<const ExactInference>& exact, const Space& outputs) {
  return {.prediction = std::make_shared<AutomatonPrediction>(automaton, exact, outputs),
          .explanation = std::make_shared<AutomatonExplanation>(automaton, exact),
          .exact = exact};
}

}  // namespace anesi
