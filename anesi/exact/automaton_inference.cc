#include "anesi/exact/automaton_inference.h"

#include "anesi/models/finite_state.h"
#include "anesi/models/finite_state_posterior.h"
#include "anesi/models/transducer_filter.h"

namespace anesi {
namespace {

torch::Tensor initial_of(const Automaton& automaton) {
  auto initial = torch::zeros({automaton.states()}, torch::kFloat64);
  initial[automaton.start()] = 1;
  return initial;
}

std::vector<torch::Tensor> tables_of(const Automaton& automaton) {
  std::vector<torch::Tensor> tables;
  for (std::int64_t kind = 0; kind < automaton.reading().kinds(); ++kind) tables.push_back(automaton.table(kind));
  return tables;
}

class AutomatonInference final : public ExactInference {
 public:
  explicit AutomatonInference(std::shared_ptr<const Automaton> automaton)
      : automaton_(std::move(automaton)), initial_(initial_of(*automaton_)), tables_(tables_of(*automaton_)) {}

  torch::Tensor log_prob(const torch::Tensor& beliefs, const torch::Tensor& outputs) const override {
    return filter_log_prob(beliefs, outputs, initial_, tables_, automaton_->reading());
  }

  MostProbable most_probable(const torch::Tensor& beliefs, const torch::Tensor& outputs) const override {
    return most_probable_worlds({beliefs, outputs, initial_, tables_}, automaton_->reading());
  }

  torch::Tensor sample(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                       at::Generator generator) const override {
    return sample_worlds({beliefs, outputs, initial_, tables_}, automaton_->reading(), std::move(generator));
  }

 private:
  std::shared_ptr<const Automaton> automaton_;
  torch::Tensor initial_;
  std::vector<torch::Tensor> tables_;
};

class AutomatonModel final : public FiniteStateModel {
 public:
  AutomatonModel(const Space& outputs, const Automaton& automaton)
      : FiniteStateModel(outputs, automaton.reading()),
        initial_(initial_of(automaton)),
        tables_(tables_of(automaton)) {}

  torch::Tensor initial() const override { return initial_; }
  std::vector<torch::Tensor> tables() const override { return tables_; }

 private:
  torch::Tensor initial_;
  std::vector<torch::Tensor> tables_;
};

}  // namespace

std::unique_ptr<ExactInference> make_automaton_inference(std::shared_ptr<const Automaton> automaton) {
  return std::make_unique<AutomatonInference>(std::move(automaton));
}

InferenceModel make_automaton_model(const Automaton& automaton, const Space& worlds, const Space& outputs) {
  const auto model = std::make_shared<AutomatonModel>(outputs, automaton);
  return {model, make_explanation(model, worlds)};
}

}  // namespace anesi
