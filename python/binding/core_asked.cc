// What a Core answers: predictions, the worlds behind them, and how far both are from the truth.
#include <fmt/format.h>

#include <algorithm>

#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "anesi/core/pruner.h"
#include "anesi/discover/cnf_check.h"
#include "anesi/exact/automaton.h"
#include "anesi/logic/cnf.h"
#include "anesi/logic/compiled_formula.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/consistent_worlds.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/tensors/worlds.h"
#include "core.h"
#include "labels.h"
#include "without_autocast.h"

namespace anesi::python {
namespace {

constexpr double kMostWorldsCompared = 1 << 14;
constexpr std::int64_t kMostWorldsSolved = 2000;  // by a solver, one after another

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
                    .prunes = prunes_by(*problem, options_->eval, options_->q.amortized.prunes())});
}

torch::Tensor Core::is_possible(const Asked& asked, const torch::Tensor& outputs) const {
  const torch::NoGradGuard no_gradients;
  const auto log_prob = asks_back_end() ? knowledge_.model.exact->log_prob(log_beliefs(asked), outputs)
                                        : knowledge_.model.prediction->log_prob({beliefs(asked)}, outputs);
  return log_prob.isneginf().logical_not();
}

void Core::require_possible(const Asked& asked, const torch::Tensor& outputs) const {
  if (outputs.size(0) == 0) return;
  const auto impossible = is_possible(asked, outputs).logical_not();
  if (!impossible.any().item<bool>()) return;
  const auto row = impossible.nonzero()[0][0].item<std::int64_t>();
  throw UsageError(
      fmt::format("outputs: no world that example {} believes in gives {}", row, in_words(row_of(outputs, row))));
}

Predictions Core::predict(const Asked& asked, std::int64_t top) const {
  const WithoutAutocast full_precision;
  const torch::NoGradGuard no_gradients;
  auto result = predictor().predict(beliefs(asked), top);
  result.worlds = without_given(result.worlds, 1);
  return result;
}

torch::Tensor Core::predicted_outputs(const Asked& asked) const {
  const auto predicted = predictor().predict(beliefs(asked), 1);
  return predicted.outputs.size(1) > 0 ? predicted.outputs.select(1, 0).contiguous() : predicted.symbolic;
}

std::pair<torch::Tensor, torch::Tensor> Core::explain(const Asked& asked, const torch::Tensor& outputs,
                                                      std::int64_t top) const {
  const WithoutAutocast full_precision;
  const torch::NoGradGuard no_gradients;
  check_shape(asked);
  const auto batch = asked.values.size(0);
  const auto rows = outputs.defined() ? checked_outputs(outputs, batch) : torch::Tensor();
  torch::Tensor worlds, probability;
  if (batch == 0 || asks_back_end()) {
    const auto wanted = rows.defined() ? rows : predicted_outputs(asked);
    auto ranked = Ranked{torch::empty({0, 0, problem().worlds().variables()}, torch::kInt64),
                         torch::empty({0, 0}, torch::kFloat64)};
    if (batch > 0) ranked = knowledge_.model.exact->explain(log_beliefs(asked), wanted, top);
    worlds = ranked.values;
    probability = ranked.log_prob.exp();
  } else {
    worlds = torch::full({batch, top, problem().worlds().variables()}, kUnset, torch::kInt64);
    probability = torch::zeros({batch, top}, torch::kFloat64);
    const auto believed = beliefs(asked);
    const auto asks = predictor();
    const auto possible = rows.defined() ? is_possible(asked, rows) : torch::ones({batch}, torch::kBool);
    for (std::int64_t row = 0; row < batch; ++row) {
      if (!possible[row].item<bool>()) continue;
      ExplainRequest request{.top = top};
      if (rows.defined()) request.output = values_of(rows[row]);
      const auto explanation = asks.explain(believed.slice(0, row, row + 1), request);
      for (std::size_t place = 0; place < explanation.worlds.size(); ++place) {
        const auto& found = explanation.worlds[place];
        worlds[row][static_cast<std::int64_t>(place)].copy_(tensor_of(found.world));
        probability[row][static_cast<std::int64_t>(place)] = found.probability;
      }
    }
    const auto filled = probability.gt(0).sum(1).max().item<std::int64_t>();
    worlds = worlds.slice(1, 0, filled);
    probability = probability.slice(1, 0, filled);
  }
  return {without_given(worlds, 2), probability};
}

torch::Tensor Core::marginals(const Asked& asked, const torch::Tensor& outputs) const {
  const WithoutAutocast full_precision;
  check_shape(asked);
  const auto rows = checked_outputs(outputs, asked.values.size(0));
  require_possible(asked, rows);
  const auto result = asks_back_end() ? knowledge_.model.exact->marginals(log_beliefs(asked), rows)
                                      : predictor().marginals(beliefs(asked).detach(), rows);
  return without_given(result, 1).slice(2, 0, largest_seen_);
}

torch::Tensor Core::sample(const Asked& asked, const torch::Tensor& outputs, std::int64_t count,
                           std::uint64_t seed) const {
  const WithoutAutocast full_precision;
  const torch::NoGradGuard no_gradients;
  check_shape(asked);
  const auto batch = asked.values.size(0);
  const auto rows = checked_outputs(outputs, batch);
  require_possible(asked, rows);
  if (!asks_back_end()) return without_given(predictor().sample(beliefs(asked), rows, count, seeded(seed)), 2);
  const auto each = torch::arange(batch, torch::kInt64).repeat_interleave(count);
  const auto drawn =
      knowledge_.model.exact->sample(log_beliefs(asked).rows(each), rows.index_select(0, each), seeded(seed));
  return without_given(drawn.view({batch, count, problem().worlds().variables()}), 2);
}

std::pair<torch::Tensor, torch::Tensor> Core::most_probable(const Asked& asked, const torch::Tensor& outputs) const {
  const WithoutAutocast full_precision;
  const torch::NoGradGuard no_gradients;
  check_shape(asked);
  const auto rows = checked_outputs(outputs, asked.values.size(0), /*may_be_open=*/true);
  auto found = asks_back_end() ? knowledge_.model.exact->most_probable(log_beliefs(asked), rows)
                               : predictor().find_most_probable_worlds(beliefs(asked), rows);
  found.worlds.masked_fill_(found.log_prob.isneginf().unsqueeze(1), kUnset);
  return {without_given(found.worlds, 1), found.log_prob};
}

CheckFigures Core::check(const Asked& asked, std::int64_t samples) const {
  const WithoutAutocast full_precision;
  const torch::NoGradGuard no_gradients;
  const auto believed = beliefs(asked);
  CheckFigures figures{.beliefs = believed.size(0)};
  if (figures.beliefs == 0) throw UsageError("check: there are no beliefs to look at");
  const auto generator = seeded(knowledge_.seed);
  const auto* const cnf = problem().facts().find<Cnf>();
  auto& prediction = *knowledge_.model.prediction;
  const bool is_approximate = asks_back_end() && !is_exact();
  if (!knowledge_.learns_q && !is_approximate) {
    Random random(draw_seed(generator));
    const bool of_each = problem().facts().find<Automaton>() == nullptr;
    const std::string of =
        of_each ? "the beliefs that were given, each output by itself" : "the beliefs that were given";
    figures.bound = certify_facts(problem(), {worlds_of_beliefs(believed), of},
                                  std::max<std::int64_t>(100, samples * figures.beliefs), random);
    if (!figures.bound && cnf != nullptr && this_build().cadical) {
      figures.bound = certify_cnf(problem(), *cnf, {worlds_of_beliefs(believed), "the beliefs that were given"},
                                  std::clamp<std::int64_t>(samples * figures.beliefs, 100, kMostWorldsSolved), random);
    }
  }
  if (knowledge_.learns_q || is_approximate) {
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
  return predictor().record(beliefs(asked), output, world);
}

}  // namespace anesi::python
