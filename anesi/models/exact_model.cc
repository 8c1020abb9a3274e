#include "anesi/models/exact_model.h"

#include <fmt/format.h>

#include <numeric>

#include "anesi/core/error.h"
#include "anesi/exact/automaton.h"
#include "anesi/models/automaton_inference.h"
#include "anesi/tensors/beliefs.h"

namespace anesi {
namespace {

// Chooses the variables of a space in their own order; `weigh` gives the log-probabilities of the next one.
class StepwiseRollout final : public Rollout {
 public:
  using Weigh = std::function<torch::Tensor(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                                            const torch::Tensor& chosen, std::int64_t variable)>;
  StepwiseRollout(const Context& context, const Space& space, Weigh weigh)
      : beliefs_(context.beliefs),
        outputs_(context.outputs),
        chosen_(torch::full({context.size(), space.variables()}, kUnset, torch::kInt64)),
        weigh_(std::move(weigh)) {}

  torch::Tensor next_log_probs() override {
    return weigh_(beliefs_, outputs_, chosen_, variable_).to(beliefs_.options());
  }
  void advance(const torch::Tensor& values) override { chosen_.select(1, variable_++).copy_(values); }
  void select(const torch::Tensor& rows) override {
    beliefs_ = beliefs_.index_select(0, rows);
    if (outputs_.defined()) outputs_ = outputs_.index_select(0, rows);
    chosen_ = chosen_.index_select(0, rows);
  }

 private:
  torch::Tensor beliefs_, outputs_, chosen_;
  Weigh weigh_;
  std::int64_t variable_ = 0;
};

// Normalised logarithms of weights that are logarithms; where all are impossible, anything goes.
torch::Tensor normalised(const torch::Tensor& log_weights) {
  const auto total = log_weights.logsumexp(1, /*keepdim=*/true);
  const auto even = torch::full_like(log_weights, -std::log(static_cast<double>(log_weights.size(1))));
  return torch::where(total.isneginf(), even, log_weights - total);
}

class ExactPrediction final : public SequenceModel {
 public:
  ExactPrediction(std::shared_ptr<const ExactInference> inference, const Space& outputs, bool rollouts)
      : SequenceModel(outputs), inference_(std::move(inference)), rollouts_(rollouts) {}

  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override {
    return inference_->log_prob(context.beliefs, values);
  }
  std::optional<Ranked> most_probable(const Context& context, std::int64_t top) override {
    if (!inference_->ranks_outputs()) return std::nullopt;
    return inference_->most_probable_outputs(LogBeliefs::of(context.beliefs), top);
  }

  std::unique_ptr<Rollout> begin(const Context& context) override {
    if (!rollouts_) throw UsageError("exact inference: these outputs cannot be chosen variable by variable");
    const torch::NoGradGuard no_gradients;
    return std::make_unique<StepwiseRollout>(
        context.beliefs, space(),
        [this](const torch::Tensor& beliefs, const torch::Tensor&, const torch::Tensor& chosen, std::int64_t variable) {
          std::vector<torch::Tensor> columns;
          for (std::int64_t value = 0; value < space().domain(variable); ++value) {
            auto outputs = chosen.clone();
            outputs.select(1, variable).fill_(value);
            columns.push_back(inference_->log_prob(beliefs, outputs));
          }
          return normalised(torch::stack(columns, 1));
        });
  }
  bool rollouts_have_gradients() const override { return false; }
  bool multilinear() const override { return inference_->backend().is_exact(); }
  bool has_rollouts() const override { return rollouts_; }

 private:
  std::shared_ptr<const ExactInference> inference_;
  bool rollouts_;
};

class ExactExplanation final : public SequenceModel {
 public:
  explicit ExactExplanation(std::shared_ptr<const ExactInference> inference)
      : SequenceModel(inference->worlds()), inference_(std::move(inference)) {}

  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override {
    const auto agrees = inference_->log_prob(certain_beliefs(values, space()), context.outputs);  // 0 or -inf
    return world_log_prob(context.beliefs, values) + agrees - inference_->log_prob(context.beliefs, context.outputs);
  }

  std::unique_ptr<Rollout> begin(const Context& context) override {
    return std::make_unique<StepwiseRollout>(
        context, space(),
        [this](const torch::Tensor& beliefs, const torch::Tensor& outputs, const torch::Tensor& chosen,
               std::int64_t variable) {
          // Beliefs that are certain of what was chosen.
          auto given = beliefs.to(torch::kFloat64);
          if (variable > 0) {
            const auto certain = torch::one_hot(chosen.slice(1, 0, variable), given.size(2)).to(given.options());
            given = torch::cat({certain, given.slice(1, variable)}, 1);
          }
          const auto marginal =
              inference_->marginals(given, outputs).select(1, variable).slice(1, 0, space().domain(variable));
          return normalised(marginal.log());
        });
  }
  bool rollouts_have_gradients() const override { return false; }

  std::optional<MostProbable> most_probable(const Context& context) override {
    return inference_->most_probable(context.beliefs, context.outputs);
  }
  std::optional<Ranked> most_probable(const Context& context, std::int64_t top) override {
    return inference_->explain(LogBeliefs::of(context.beliefs), context.outputs, top);
  }

 private:
  std::shared_ptr<const ExactInference> inference_;
};

}  // namespace

std::unique_ptr<ExactInference> find_exact(const Problem& problem, double seconds, std::string* why_not) {
  auto chosen = choose_backend(problem, {.seconds = seconds});
  if (why_not != nullptr) *why_not = chosen.why_not;
  return chosen.backend ? std::make_unique<ExactInference>(std::move(chosen.backend)) : nullptr;
}

std::unique_ptr<ExactInference> make_exact(const Problem& problem, const ExactOptions& options) {
  return std::make_unique<ExactInference>(make_backend(problem, options));
}

InferenceModel make_exact_model(const Problem& problem, const ExactOptions& options) {
  auto chosen = choose_backend(problem, options);
  if (!chosen.backend) throw Error(chosen.why_not);
  const auto exact = std::make_shared<const ExactInference>(chosen.backend);
  auto model = chosen.name == "automaton"
                   ? make_automaton_model(problem.facts().share<Automaton>(), exact, problem.outputs())
                   : models_of(exact, problem.outputs(), /*rollouts=*/chosen.name != "conditioned");
  model.architecture = kExactArchitecture;
  model.options = {{"exact.method", options.method}, {"exact.seconds", fmt::format("{}", options.seconds)}};
  return model;
}

InferenceModel models_of(const std::shared_ptr<const ExactInference>& inference, const Space& outputs, bool rollouts) {
  return {.prediction =
              std::make_shared<ExactPrediction>(inference, outputs, rollouts && !inference->has_outputs_that_end()),
          .explanation = std::make_shared<ExactExplanation>(inference),
          .exact = inference};
}

}  // namespace anesi
