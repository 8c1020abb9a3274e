#include "anesi/exact/automaton_inference.h"

#include "anesi/core/beliefs.h"
#include "anesi/exact/automaton_filter.h"
#include "anesi/exact/automaton_posterior.h"

namespace anesi {
namespace {

class AutomatonInference final : public ExactInference {
 public:
  explicit AutomatonInference(std::shared_ptr<const Automaton> automaton) : automaton_(std::move(automaton)) {}

  torch::Tensor log_prob(const torch::Tensor& beliefs, const torch::Tensor& outputs) const override {
    return automaton_log_prob(beliefs, outputs, automaton_);
  }
  MostProbable most_probable(const torch::Tensor& beliefs, const torch::Tensor& outputs) const override {
    auto found = most_probable_worlds({automaton_, beliefs, outputs});
    return {found.worlds.to(beliefs.device()), found.log_prob};
  }
  torch::Tensor sample(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                       at::Generator generator) const override {
    return sample_worlds({automaton_, beliefs, outputs}, generator).to(beliefs.device());
  }

 private:
  std::shared_ptr<const Automaton> automaton_;
};

class AutomatonPrediction final : public SequenceModel {
 public:
  AutomatonPrediction(std::shared_ptr<const Automaton> automaton, const Space& outputs)
      : SequenceModel(outputs, automaton->reading().emitted()), automaton_(std::move(automaton)) {}

  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override {
    return automaton_log_prob(context.beliefs, values, automaton_);
  }
  std::unique_ptr<Rollout> begin(const Context& context) override {
    return begin_prediction({automaton_, context.beliefs, {}}, context.beliefs.device());
  }
  bool rollouts_have_gradients() const override { return false; }
  bool multilinear() const override { return true; }

 private:
  std::shared_ptr<const Automaton> automaton_;
};

class AutomatonExplanation final : public SequenceModel {
 public:
  AutomatonExplanation(std::shared_ptr<const Automaton> automaton, const Space& worlds)
      : SequenceModel(worlds, automaton->reading().read()), automaton_(std::move(automaton)) {}

  // p(w|y,P) = p(w|P) p(y|w) / p(y|P), where p(y|w) is one or zero.
  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override {
    const auto agrees = automaton_log_prob(certain_beliefs(values, space()), context.outputs, automaton_);
    return world_log_prob(context.beliefs, values) + agrees -
           automaton_log_prob(context.beliefs, context.outputs, automaton_);
  }
  std::unique_ptr<Rollout> begin(const Context& context) override {
    return begin_explanation({automaton_, context.beliefs, context.outputs}, context.beliefs.device());
  }
  bool rollouts_have_gradients() const override { return false; }
  std::optional<MostProbable> most_probable(const Context& context) override {
    return AutomatonInference(automaton_).most_probable(context.beliefs, context.outputs);
  }

 private:
  std::shared_ptr<const Automaton> automaton_;
};

}  // namespace

std::unique_ptr<ExactInference> make_automaton_inference(std::shared_ptr<const Automaton> automaton) {
  return std::make_unique<AutomatonInference>(std::move(automaton));
}

InferenceModel make_automaton_model(const std::shared_ptr<const Automaton>& automaton, const Space& worlds,
                                    const Space& outputs) {
  return {std::make_shared<AutomatonPrediction>(automaton, outputs),
          std::make_shared<AutomatonExplanation>(automaton, worlds)};
}

}  // namespace anesi
