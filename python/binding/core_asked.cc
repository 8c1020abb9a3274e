// What a Core answers: predictions, the worlds behind them, and how far both are from the truth.
#include <fmt/format.h>

#include <algorithm>

#include "anesi/core/beliefs.h"
#include "anesi/core/error.h"
#include "anesi/core/pruner.h"
#include "anesi/core/rows.h"
#include "anesi/core/seeded.h"
#include "anesi/discover/worlds.h"
#include "anesi/exact/automaton.h"
#include "anesi/exact/circuit_inference.h"
#include "anesi/exact/cnf.h"
#include "anesi/search/consistent_worlds.h"
#include "core.h"
#include "labels.h"
#include "without_autocast.h"

namespace anesi::python {
namespace {

constexpr double kMostWorldsCompared = 1 << 14;

// A q alone: what it is asked with are beliefs already.
class NoPerception final : public Perception {
 public:
  torch::Tensor forward(const torch::Tensor& inputs) override { return inputs; }
};

}  // namespace

Predictor Core::predictor_of(const std::shared_ptr<const Problem>& problem) const {
  return Predictor({.problem = problem,
                    .perception = std::make_shared<NoPerception>(),
                    .model = knowledge_.model,
                    .options = options_->eval,
                    .prunes = options_->q.amortized.prunes() && problem->facts().find<Pruner>() != nullptr});
}

torch::Tensor Core::is_possible(const torch::Tensor& beliefs, const torch::Tensor& outputs) const {
  const torch::NoGradGuard no_gradients;
  return knowledge_.model.prediction->log_prob({beliefs}, outputs).isneginf().logical_not();
}

void Core::require_possible(const torch::Tensor& beliefs, const torch::Tensor& outputs) const {
  const auto impossible = is_possible(beliefs, outputs).logical_not();
  if (!impossible.any().item<bool>()) return;
  const auto row = impossible.nonzero()[0][0].item<std::int64_t>();
  throw UsageError(
      fmt::format("outputs: no world that example {} believes in gives {}", row, in_words(row_of(outputs, row))));
}

Predictions Core::predict(const Asked& asked, std::int64_t top) const {
  const WithoutAutocast full_precision;
  const torch::NoGradGuard no_gradients;
  auto result = predictor().predict(precise_beliefs(asked), top);
  result.worlds = without_given(result.worlds, 1);
  return result;
}

std::pair<torch::Tensor, torch::Tensor> Core::explain(const Asked& asked, const torch::Tensor& outputs,
                                                      std::int64_t top) const {
  const WithoutAutocast full_precision;
  const torch::NoGradGuard no_gradients;
  const auto believed = precise_beliefs(asked);
  const auto batch = believed.size(0);
  const auto rows = outputs.defined() ? checked_outputs(outputs, batch) : torch::Tensor();
  auto worlds = torch::full({batch, top, problem().worlds().variables()}, kUnset, torch::kInt64);
  auto probability = torch::zeros({batch, top}, torch::kFloat64);
  if (batch == 0) return {without_given(worlds, 2).slice(1, 0, 0), probability.slice(1, 0, 0)};
  const auto asks = predictor();
  const auto possible = rows.defined() ? is_possible(believed, rows) : torch::ones({batch}, torch::kBool);
  for (std::int64_t row = 0; row < batch; ++row) {
    if (!possible[row].item<bool>()) continue;
    ExplainRequest request{.top = top};
    if (rows.defined()) request.output = values_of(rows[row]);
    const auto explanation = asks.explain(believed.slice(0, row, row + 1), request);
    for (std::size_t place = 0; place < explanation.worlds.size(); ++place) {
      const auto& found = explanation.worlds[place];
      worlds[row][static_cast<std::int64_t>(place)].copy_(tensor_of(found.world));
      // A world that was searched for is one of many: its share is what Bayes' rule says of q.
      probability[row][static_cast<std::int64_t>(place)] = explanation.by == ExplainedBy::kSearch
                                                               ? std::min(1.0, found.belief / explanation.probability)
                                                               : found.probability;
    }
  }
  const auto filled = probability.gt(0).sum(1).max().item<std::int64_t>();
  return {without_given(worlds, 2).slice(1, 0, filled), probability.slice(1, 0, filled)};
}

torch::Tensor Core::marginals(const Asked& asked, const torch::Tensor& outputs) const {
  const WithoutAutocast full_precision;
  const auto believed = precise_beliefs(asked).detach();
  const auto rows = checked_outputs(outputs, believed.size(0));
  require_possible(believed, rows);
  const auto result = predictor().marginals(believed, rows);
  return without_given(result, 1).slice(2, 0, largest_seen_);
}

torch::Tensor Core::sample(const Asked& asked, const torch::Tensor& outputs, std::int64_t count,
                           std::uint64_t seed) const {
  const WithoutAutocast full_precision;
  const torch::NoGradGuard no_gradients;
  const auto believed = precise_beliefs(asked);
  const auto rows = checked_outputs(outputs, believed.size(0));
  require_possible(believed, rows);
  return without_given(predictor().sample(believed, rows, count, seeded(seed)), 2);
}

std::pair<torch::Tensor, torch::Tensor> Core::most_probable(const Asked& asked, const torch::Tensor& outputs) const {
  const WithoutAutocast full_precision;
  const torch::NoGradGuard no_gradients;
  const auto believed = precise_beliefs(asked);
  const auto rows = checked_outputs(outputs, believed.size(0), /*may_be_open=*/true);
  if (knowledge_.model.explanation) {
    if (auto own = knowledge_.model.explanation->most_probable({believed, rows})) {
      const auto none = own->log_prob.isneginf();
      own->worlds.masked_fill_(none.unsqueeze(1), kUnset);
      return {without_given(own->worlds, 1), own->log_prob};
    }
  }
  const auto found = most_probable_worlds(problem(), believed, rows, options_->eval.limits);
  const auto best = believed.to(torch::kFloat64).amax(2).log().sum(1);
  return {without_given(found.worlds, 1), best - found.gap};
}

CheckFigures Core::check(const Asked& asked, std::int64_t samples) const {
  const WithoutAutocast full_precision;
  const torch::NoGradGuard no_gradients;
  const auto believed = precise_beliefs(asked);
  CheckFigures figures{.beliefs = believed.size(0)};
  if (figures.beliefs == 0) throw UsageError("check: there are no beliefs to look at");
  const auto generator = seeded(knowledge_.seed);
  auto& prediction = *knowledge_.model.prediction;
  if (!knowledge_.learns_q) {
    const bool of_each = problem().facts().find<Automaton>() == nullptr;
    const std::string of =
        of_each ? "the beliefs that were given, each output by itself" : "the beliefs that were given";
    figures.bound = certify_facts(problem(), {worlds_of_beliefs(believed), of},
                                  std::max<std::int64_t>(100, samples * figures.beliefs), generator);
  }
  if (knowledge_.learns_q) {
    if (prediction.multilinear()) {
      figures.multilinear = certify(prediction, problem(), believed, std::max<std::int64_t>(2, samples), generator);
    }
    const bool few = problem().worlds().points() <= kMostWorldsCompared;
    if (const auto exact = few || has_formula(problem()) ? find_exact(problem(), 1) : nullptr) {
      figures.distance = sampled_distance(prediction, problem(), *exact, believed, samples, generator);
    }
  } else if (is_exact()) {
    figures.distance = Distance{};
    if (figures.bound) {
      figures.distance->total_variation =
          static_cast<double>(figures.bound->differing) / static_cast<double>(figures.bound->draws);
    }
  }
  const auto truth = sample_worlds(believed, generator);
  figures.exploits = check_exploits(prediction, problem(), truth);
  return figures;
}

std::vector<RecordedStep> Core::record(const Asked& asked, const std::vector<std::int64_t>& output,
                                       const std::vector<std::int64_t>& world) const {
  const WithoutAutocast full_precision;
  const torch::NoGradGuard no_gradients;
  return predictor().record(precise_beliefs(asked), output, world);
}

}  // namespace anesi::python
