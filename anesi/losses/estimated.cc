#include "anesi/losses/estimated.h"

#include <fmt/format.h>

#include "anesi/core/error.h"
#include "anesi/core/score.h"
#include "anesi/tensors/problem.h"

namespace anesi {

void require_outputs_as_goals(const Observations& observations, const std::string& loss) {
  if (observations.holds.defined() && !observations.holds.all().item<bool>()) {
    throw UsageError(
        fmt::format("{}: labels that only say what an output is not are no goal; leave them out of training", loss));
  }
  if (observations.worlds.defined()) {
    throw UsageError(fmt::format("{}: labels that tell worlds need no drawing of worlds", loss));
  }
}

EstimatedLoss::EstimatedLoss(std::shared_ptr<const Problem> problem, const std::string& estimator,
                             const EstimatedOptions& options, const at::Generator& generator)
    : problem_(std::move(problem)), name_(estimator) {
  std::vector<std::string> settings{fmt::format("samples={}", options.samples)};
  if (estimator == "gumbel") settings.push_back(fmt::format("temperature={}", options.temperature));
  const auto g = std::make_shared<BlackBox>([this](const Draws& draws) { return distances(draws.discrete); }, 1);
  estimator_ = make_estimator(
      estimator, {.sources = {.categoricals = problem_->worlds()}, .g = g, .generator = generator}, settings);
}

torch::Tensor EstimatedLoss::distances(const torch::Tensor& worlds) const {
  const auto each = worlds.size(0) / wanted_.size();
  const auto repeated = [&](const torch::Tensor& rows) {
    return rows.defined() ? rows.repeat_interleave(each, 0) : rows;
  };
  return distance(*problem_, worlds, apply(*problem_, worlds), repeated(wanted_.outputs));
}

torch::Tensor EstimatedLoss::loss(const torch::Tensor& beliefs, const Observations& observations) {
  require_outputs_as_goals(observations, name_);
  wanted_ = observations;
  return estimator_->expectation({.beliefs = beliefs}).mean().to(beliefs.scalar_type());
}

}  // namespace anesi
