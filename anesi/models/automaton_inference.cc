#include "anesi/models/automaton_inference.h"

#include "anesi/models/automaton_filter.h"
#include "anesi/models/automaton_posterior.h"
#include "anesi/tensors/beliefs.h"

namespace anesi {
namespace {

Space read_by(const ReadingOrder& reading) {
  std::vector<std::int64_t> domains(reading.read().size());
  for (const auto& step : planned_steps(reading)) {
    for (std::size_t index = 0; index < step.reads.size(); ++index) {
      domains[static_cast<std::size_t>(step.reads[index])] = step.domains[index];
    }
  }
  return Space(std::move(domains));
}

class AutomatonInference final : public ExactInference {
 public:
  explicit AutomatonInference(std::shared_ptr<const Automaton> automaton)
      : ExactInference(read_by(automaton->reading())), automaton_(std::move(automaton)) {}

 private:
  torch::Tensor find_log_prob(const torch::Tensor& logs, const torch::Tensor& outputs) const override {
    return automaton_log_prob(logs, outputs, automaton_);
  }
  MostProbable find_most_probable(const torch::Tensor& logs, const torch::Tensor& outputs) const override {
    return most_probable_worlds({automaton_, logs, outputs});
  }
  torch::Tensor draw(const torch::Tensor& logs, const torch::Tensor& outputs, at::Generator generator) const override {
    return sample_worlds({automaton_, logs, outputs}, generator);
  }

  std::shared_ptr<const Automaton> automaton_;
};

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
    return begin_prediction({automaton_, LogBeliefs::of(context.beliefs).logs, {}}, context.beliefs.options());
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
    return begin_explanation({automaton_, LogBeliefs::of(context.beliefs).logs, context.outputs},
                             context.beliefs.options());
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

std::unique_ptr<ExactInference> make_automaton_inference(std::shared_ptr<const Automaton> automaton) {
  return std::make_unique<AutomatonInference>(std::move(automaton));
}

InferenceModel make_automaton_model(const std::shared_ptr<const Automaton>& automaton, const Space& outputs) {
  const std::shared_ptr<const ExactInference> exact = make_automaton_inference(automaton);
  return {.prediction = std::make_shared<AutomatonPrediction>(automaton, exact, outputs),
          .explanation = std::make_shared<AutomatonExplanation>(automaton, exact),
          .exact = exact};
}

}  // namespace anesi
