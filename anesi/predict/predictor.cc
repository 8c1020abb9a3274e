#include "anesi/predict/predictor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "anesi/core/asked_output.h"
#include "anesi/core/error.h"
#include "anesi/core/pruner.h"
#include "anesi/core/score.h"
#include "anesi/exact/automaton.h"
#include "anesi/models/beam.h"
#include "anesi/models/exact_model.h"
#include "anesi/models/learned_pruning.h"
#include "anesi/models/sample.h"
#include "anesi/search/propagation.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

// Rows that go through q at once where values are made certain one after another.
constexpr std::int64_t kRowsAtOnce = 4096;

// log of P_i(v) q(y | P with w_i = v made certain), double [batch, domain of the variable].
torch::Tensor clamped_weights(SequenceModel& prediction, const torch::Tensor& beliefs, const torch::Tensor& outputs,
                              std::int64_t variable, std::int64_t domain) {
  std::vector<torch::Tensor> columns;
  for (std::int64_t value = 0; value < domain; ++value) {
    auto known = torch::full({beliefs.size(0), beliefs.size(1)}, kUnset, torch::kInt64);
    known.select(1, variable).fill_(value);
    const auto weight = prediction.log_prob(clamped(beliefs, known), outputs).to(torch::kFloat64);
    columns.push_back(weight + beliefs.select(1, variable).select(1, value).to(torch::kFloat64).log());
  }
  return torch::stack(columns, 1);
}

// Shares of what is possible; where nothing is, nothing.
torch::Tensor normalised(const torch::Tensor& log_weights) {
  const auto total = log_weights.logsumexp(1, /*keepdim=*/true);
  return torch::where(total.isneginf(), torch::zeros_like(log_weights), (log_weights - total).exp());
}

// Throws UsageError where rows are not of a space. kUnset leaves a variable open; kNone ends an output, of worlds it is
// no value.
enum class RowsOf { kWorlds, kOutputs };
void check_rows(const torch::Tensor& rows, std::int64_t batch, const Space& space, RowsOf what) {
  const auto* const name = what == RowsOf::kWorlds ? "worlds" : "outputs";
  const auto variables = space.variables();
  if (rows.scalar_type() != torch::kInt64 || rows.dim() != 2 || rows.size(0) != batch || rows.size(1) != variables) {
    throw UsageError(fmt::format("{}: int64 [{}, {}] is expected, not {} [{}]", name, batch, variables,
                                 torch::toString(rows.scalar_type()), fmt::join(rows.sizes(), ", ")));
  }
  const auto past = rows >= torch::tensor(space.domains(), torch::kInt64);
  auto below = rows < std::min(kNone, kUnset);
  if (what == RowsOf::kWorlds) below = below.logical_or(rows == kNone);
  const auto wrong = past.logical_or(below).nonzero();
  if (wrong.size(0) == 0) return;
  const auto row = wrong[0][0].item<std::int64_t>(), variable = wrong[0][1].item<std::int64_t>();
  throw UsageError(
      fmt::format("{}: row {} has {} at variable {}, which has the values 0 to {}, and {} where it is open", name, row,
                  rows[row][variable].item<std::int64_t>(), variable, space.domain(variable) - 1, kUnset));
}

}  // namespace

bool prunes_by(const Problem& problem, const PredictorOptions& options, bool q_learned_under_it) {
  return (q_learned_under_it || options.prune || options.decide == Decide::kConstrained) &&
         problem.facts().find<Pruner>() != nullptr;
}

Predictor::Predictor(Parts parts) : parts_(std::move(parts)) {
  put_to_rest(*parts_.perception);
  parts_.model.eval();
  if (parts_.prunes) {
    const auto pruner = parts_.problem->facts().share<Pruner>();
    if (!pruner) throw UsageError("pruning: this problem has no pruner");
    pruning_ = std::make_shared<SymbolicPruning>(pruner);
    prunes_symbolically_ = true;
  } else if (parts_.options.learned_threshold > 0) {
    pruning_ = std::make_shared<LearnedPruning>(parts_.problem->worlds(), parts_.options.learned_threshold);
  }
}

torch::Tensor Predictor::beliefs(const torch::Tensor& inputs) const {
  const torch::NoGradGuard no_gradients;
  auto beliefs = parts_.perception->forward(inputs);
  check_beliefs(beliefs, problem().worlds());
  return beliefs;
}

Predictions Predictor::predict(const torch::Tensor& beliefs, std::int64_t top) const {
  const torch::NoGradGuard no_gradients;
  check_beliefs(beliefs, problem().worlds());
  auto& prediction = *parts_.model.prediction;
  const auto batch = beliefs.size(0);
  Predictions result;
  if (batch == 0) {
    const auto outputs = problem().outputs().variables();
    result.worlds = torch::empty({0, beliefs.size(1)}, torch::kInt64);
    result.symbolic = torch::empty({0, outputs}, torch::kInt64);
    result.outputs = torch::empty({0, chooses() ? top : 0, outputs}, torch::kInt64);
    result.probability = torch::empty({0, result.outputs.size(1)}, beliefs.options());
    return result;
  }
  result.worlds = most_likely_worlds(beliefs);
  result.symbolic = apply(problem(), result.worlds);
  if (chooses()) {
    const auto beam = beam_search(prediction, beliefs, std::max(top, options().beam), pruning());
    result.outputs = beam.values.slice(1, 0, top).contiguous();
    result.probability = beam.log_prob.slice(1, 0, top).exp();
  } else {
    result.outputs = torch::empty({batch, 0, problem().outputs().variables()}, torch::kInt64);
    result.probability = torch::empty({batch, 0});
  }
  if (const auto* const asked = problem().facts().find<AskedOutput>()) {
    const auto outputs = tensor_of(asked->output).expand({batch, -1}).contiguous();
    result.asked = prediction.log_prob(beliefs, outputs).exp();
    if (options().decide == Decide::kConstrained) {
      result.constrained = most_probable_worlds(beliefs, outputs, std::max(top, options().beam));
    }
    if (decision()) result.holds = decision()->probability(decision()->scores(problem(), prediction, beliefs, outputs));
  }
  return result;
}

ExplainedBy Predictor::explains_by() const {
  if (parts_.model.explanation && chooses()) return ExplainedBy::kModel;
  const auto& facts = problem().facts();
  const auto* const pruner = facts.find<Pruner>();
  const bool helped = facts.find<Automaton>() != nullptr || facts.find<PropagationOf>() != nullptr ||
                      (pruner != nullptr && pruner->is_exact());
  return helped || facts.find<Score>() == nullptr || !chooses() ? ExplainedBy::kSearch : ExplainedBy::kInfluence;
}

bool Predictor::possible(Values output) const {
  const auto* const pruner = problem().facts().find<Pruner>();
  if (pruner == nullptr) return true;
  const auto& worlds = problem().worlds();
  const std::vector<std::int64_t> nothing(static_cast<std::size_t>(worlds.variables()), kUnset);
  const auto domain = static_cast<std::size_t>(worlds.domain(0));
  const auto mask = std::make_unique<bool[]>(domain);
  pruner->allow_worlds(output, nothing, 0, Mask(mask.get(), domain));
  return std::any_of(mask.get(), mask.get() + domain, [](bool allowed) { return allowed; });
}

Explanation Predictor::explain(const torch::Tensor& belief, const ExplainRequest& request) const {
  const torch::NoGradGuard no_gradients;
  check_beliefs(belief, problem().worlds());
  if (belief.size(0) != 1) throw UsageError(fmt::format("explain: one belief at a time, not {}", belief.size(0)));
  Explanation explanation;
  explanation.by = request.by.value_or(explains_by());
  explanation.beliefs = belief[0];
  explanation.read = values_of(most_likely_worlds(belief)[0]);
  explanation.read_output = values_of(apply(problem(), most_likely_worlds(belief))[0]);
  auto& prediction = *parts_.model.prediction;
  const auto* const asked = problem().facts().find<AskedOutput>();
  explanation.output = request.output;
  if (request.output.empty()) {
    if (asked != nullptr && explanation.by == ExplainedBy::kSearch) {
      explanation.output = asked->output;
    } else if (chooses()) {
      const auto width = explanation.by == ExplainedBy::kModel ? std::max(request.top, options().beam) : options().beam;
      explanation.output = values_of(beam_search(prediction, belief, width, pruning()).values[0][0]);
    } else {
      explanation.output = explanation.read_output;
    }
  } else if (const auto complaint = problem().outputs().complaint(request.output); !complaint.empty()) {
    throw UsageError(fmt::format("output: {}", complaint));
  }
  const auto outputs = tensor_of(explanation.output).unsqueeze(0);
  // What hangs on variables is the choice among outputs, as it was made.
  const auto* const choosing = explanation.by == ExplainedBy::kInfluence ? pruning() : nullptr;
  explanation.probability = log_prob(prediction, belief, outputs, choosing).exp().item<double>();
  if (decision()) {
    explanation.holds =
        decision()->probability(decision()->scores(problem(), prediction, belief, outputs)).item<double>();
  }
  switch (explanation.by) {
    case ExplainedBy::kModel:
      return explain_by_model(std::move(explanation), belief, outputs, request);
    case ExplainedBy::kSearch:
      return explain_by_search(std::move(explanation), belief, outputs);
    case ExplainedBy::kInfluence:
      return explain_by_influence(std::move(explanation), belief, outputs);
  }
  return explanation;
}

ExplainedWorld Predictor::explained_world(std::vector<std::int64_t> world, double probability,
                                          const torch::Tensor& belief, const Explanation& explanation) const {
  ExplainedWorld explained{.world = std::move(world), .probability = probability, .changed = {}};
  const auto row = tensor_of(explained.world).unsqueeze(0);
  explained.belief = world_log_prob(belief, row).exp().item<double>();
  explained.satisfied = values_of(apply(problem(), row)[0]) == explanation.output;
  for (std::size_t variable = 0; variable < explained.world.size(); ++variable) {
    if (explained.world[variable] != explanation.read[variable]) {
      explained.changed.push_back(static_cast<std::int64_t>(variable));
    }
  }
  return explained;
}

Explanation Predictor::explain_by_model(Explanation explanation, const torch::Tensor& belief,
                                        const torch::Tensor& outputs, const ExplainRequest& request) const {
  if (!parts_.model.explanation) throw UsageError("explain: this q only predicts; it has no explanation model");
  // Exact inference ranks worlds; a network's beam may find better ones if it is wider.
  const auto width = parts_.model.exact ? request.top : std::max(request.top, options().beam);
  const auto beam = anesi::explain(*parts_.model.explanation, {belief, outputs}, width, pruning());
  for (std::int64_t place = 0; place < std::min(request.top, beam.values.size(1)); ++place) {
    const auto log_prob = beam.log_prob[0][place].item<double>();
    if (std::isinf(log_prob)) break;  // no world is left
    explanation.worlds.push_back(
        explained_world(values_of(beam.values[0][place]), std::exp(log_prob), belief, explanation));
  }
  return explanation;
}

Explanation Predictor::explain_by_search(Explanation explanation, const torch::Tensor& belief,
                                         const torch::Tensor& outputs) const {
  const auto found = anesi::most_probable_worlds(problem(), belief, outputs, options().limits);
  explanation.gap = found.gap.item<double>();
  explanation.proven = found.proven.item<bool>();
  if (!std::isinf(explanation.gap)) {
    auto world = explained_world(values_of(found.worlds[0]), 1, belief, explanation);
    // One world of many: its share is what Bayes' rule says of q.
    world.probability = std::min(1.0, world.belief / explanation.probability);
    explanation.worlds.push_back(std::move(world));
  }
  return explanation;
}

Explanation Predictor::explain_by_influence(Explanation explanation, const torch::Tensor& belief,
                                            const torch::Tensor& outputs) const {
  const c10::InferenceMode off(false);
  const torch::AutoGradMode gradients(true);
  const auto variable = belief.detach().clone().requires_grad_();
  const auto log_prob = parts_.model.prediction->log_prob(variable, outputs).sum();
  const auto slope = torch::autograd::grad({log_prob}, {variable})[0];
  const auto mean = (slope * belief).sum(2, /*keepdim=*/true);
  const auto influence = (slope - mean).abs().amax(2)[0].to(torch::kFloat64).contiguous();
  const auto* const values = influence.const_data_ptr<double>();
  explanation.influence.assign(values, values + influence.numel());
  return explanation;
}

std::vector<JointExplanation> Predictor::explain_jointly(const torch::Tensor& belief, std::int64_t top) const {
  const torch::NoGradGuard no_gradients;
  check_beliefs(belief, problem().worlds());
  if (!parts_.model.explanation || !chooses()) throw UsageError("explain: this q only predicts; it has no joint");
  const auto beam = joint_beam_search(parts_.model, belief, std::max(top, options().beam), pruning());
  std::vector<JointExplanation> pairs;
  for (std::int64_t place = 0; place < std::min(top, beam.outputs.size(1)); ++place) {
    const auto log_prob = beam.log_prob[0][place].item<double>();
    if (std::isinf(log_prob)) break;
    JointExplanation pair{values_of(beam.outputs[0][place]), values_of(beam.worlds[0][place]), std::exp(log_prob)};
    pair.satisfied = values_of(apply(problem(), tensor_of(pair.world).unsqueeze(0))[0]) == pair.output;
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

MostProbable Predictor::find_most_probable_worlds(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                                                  std::int64_t beam) const {
  const torch::NoGradGuard no_gradients;
  check_beliefs(beliefs, problem().worlds());
  check_rows(outputs, beliefs.size(0), problem().outputs(), RowsOf::kOutputs);
  if (parts_.model.exact) return parts_.model.exact->most_probable(beliefs, outputs);
  const auto batch = beliefs.size(0), variables = beliefs.size(1);
  MostProbable result{torch::full({batch, variables}, kUnset, torch::kInt64),
                      torch::full({batch}, -INFINITY, torch::kFloat64)};
  // A network is told whole outputs.
  const auto whole = (outputs != kUnset).all(1).nonzero().squeeze(1);
  if (parts_.model.explanation && whole.size(0) > 0) {
    const auto believed = beliefs.index_select(0, whole), wanted = outputs.index_select(0, whole);
    const auto found =
        anesi::explain(*parts_.model.explanation, {believed, wanted}, beam > 0 ? beam : options().beam, pruning());
    // q proposes; which of them is the most probable is known, for p(w|y,P) is in proportion to p(w|P).
    const auto rows = whole.size(0), proposed = found.values.size(1);
    const auto each = whole.repeat_interleave(proposed);
    const auto flat = found.values.reshape({rows * proposed, -1});
    const auto filled = (flat >= 0).all(1);
    const auto proposals = flat.clamp_min(0);
    const auto fits = (apply(problem(), proposals) == outputs.index_select(0, each)).all(1);
    const auto log_probs = world_log_prob(beliefs.index_select(0, each).to(torch::kFloat64), proposals)
                               .masked_fill(fits.logical_and(filled).logical_not(), -INFINITY)
                               .view({rows, proposed});
    const auto [most, place] = log_probs.max(1);
    const auto best = found.values.gather(1, place.view({-1, 1, 1}).expand({-1, 1, variables})).squeeze(1);
    result.worlds.index_copy_(0, whole, best.masked_fill(most.isneginf().unsqueeze(1), kUnset));
    result.log_prob.index_copy_(0, whole, most);
  }
  const auto left = result.log_prob.isneginf().nonzero().squeeze(1);
  if (left.size(0) == 0) return result;
  const auto believed = beliefs.index_select(0, left);
  const auto found = anesi::most_probable_worlds(problem(), believed, outputs.index_select(0, left), options().limits);
  const auto best = believed.to(torch::kFloat64).amax(2).log().sum(1);
  result.worlds.index_copy_(0, left, found.worlds);
  result.log_prob.index_copy_(0, left, best - found.gap);
  return result;
}

torch::Tensor Predictor::most_probable_worlds(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                                              std::int64_t beam) const {
  const auto found = find_most_probable_worlds(beliefs, outputs, beam);
  if (const auto impossible = found.log_prob.isneginf(); impossible.any().item<bool>()) {
    const auto row = impossible.nonzero()[0][0].item<std::int64_t>();
    throw Error(fmt::format("example {}: no world of positive probability gives output ({})", row,
                            fmt::join(values_of(outputs[row]), ", ")));
  }
  return found.worlds;
}

std::vector<RecordedStep> Predictor::record(const torch::Tensor& belief, Values output, Values world) const {
  return record_rollout(parts_.model, belief, output, world, pruning());
}

torch::Tensor Predictor::marginals(const torch::Tensor& beliefs, const torch::Tensor& outputs) const {
  check_beliefs(beliefs, problem().worlds());
  check_rows(outputs, beliefs.size(0), problem().outputs(), RowsOf::kOutputs);
  if (parts_.model.exact) return parts_.model.exact->marginals(beliefs, outputs);
  if (beliefs.size(0) == 0) return torch::empty_like(beliefs, torch::kFloat64);
  auto& prediction = *parts_.model.prediction;
  if (prediction.multilinear()) {
    // P_i(v) times the derivative of log q by it, because q is linear in each P_i.
    const c10::InferenceMode off(false);
    const torch::AutoGradMode gradients(true);
    const auto variable = beliefs.detach().clone().requires_grad_(true);
    const auto total = prediction.log_prob(variable, outputs.clone()).sum();
    return (variable * torch::autograd::grad({total}, {variable})[0]).detach().to(torch::kFloat64);
  }
  const torch::NoGradGuard no_gradients;
  auto result = torch::zeros(beliefs.sizes(), torch::kFloat64);
  for (std::int64_t variable = 0; variable < beliefs.size(1); ++variable) {
    const auto domain = problem().worlds().domain(variable);
    const auto weights = clamped_weights(prediction, beliefs, outputs, variable, domain);
    result.select(1, variable).slice(1, 0, domain).copy_(normalised(weights));
  }
  return result;
}

torch::Tensor Predictor::sample(const torch::Tensor& beliefs, const torch::Tensor& outputs, std::int64_t count,
                                const at::Generator& generator) const {
  const torch::NoGradGuard no_gradients;
  check_beliefs(beliefs, problem().worlds());
  check_rows(outputs, beliefs.size(0), problem().outputs(), RowsOf::kOutputs);
  const auto batch = beliefs.size(0);
  const auto repeated = [&](const torch::Tensor& rows) { return rows.repeat_interleave(count, 0); };
  const auto many = repeated(beliefs), wanted = repeated(outputs);
  if (many.size(0) == 0) return torch::empty({batch, count, beliefs.size(1)}, torch::kInt64);
  if (parts_.model.exact) return parts_.model.exact->sample(many, wanted, generator).view({batch, count, -1});
  if (parts_.model.explanation) {
    const auto drawn = anesi::sample(*parts_.model.explanation, {many, wanted}, generator, pruning());
    return drawn.values.view({batch, count, -1});
  }
  auto& prediction = *parts_.model.prediction;
  std::vector<torch::Tensor> parts;
  for (std::int64_t begin = 0; begin < many.size(0); begin += kRowsAtOnce) {
    const auto piece = [&](const torch::Tensor& all) {
      return all.slice(0, begin, std::min(begin + kRowsAtOnce, many.size(0)));
    };
    auto known = torch::full({piece(many).size(0), beliefs.size(1)}, kUnset, torch::kInt64);
    for (std::int64_t variable = 0; variable < beliefs.size(1); ++variable) {
      const auto domain = problem().worlds().domain(variable);
      const auto shares =
          normalised(clamped_weights(prediction, clamped(piece(many), known), piece(wanted), variable, domain));
      if ((shares.sum(1) == 0).any().item<bool>()) throw Error("no world of positive probability gives the output");
      known.select(1, variable).copy_(sample_worlds(shares.unsqueeze(1), generator).squeeze(1));
    }
    parts.push_back(known);
  }
  return torch::cat(parts).view({batch, count, -1});
}

Conditioned Predictor::condition(const torch::Tensor& beliefs, const Evidence& evidence, std::int64_t top) const {
  const torch::NoGradGuard no_gradients;
  check_beliefs(beliefs, problem().worlds());
  const bool knows_worlds = evidence.worlds.defined(), knows_output = evidence.outputs.defined();
  if (knows_worlds) check_rows(evidence.worlds, beliefs.size(0), problem().worlds(), RowsOf::kWorlds);
  if (knows_output) check_rows(evidence.outputs, beliefs.size(0), problem().outputs(), RowsOf::kOutputs);
  const auto believed = knows_worlds ? clamped(beliefs, evidence.worlds) : beliefs;
  Conditioned result;
  result.log_prob =
      knows_worlds ? known_log_prob(beliefs, evidence.worlds) : torch::zeros({beliefs.size(0)}, beliefs.options());
  result.beliefs = believed.to(torch::kFloat64);
  result.predictions = predict(believed, top);
  if (!knows_output) return result;
  const auto likely = parts_.model.prediction->log_prob(believed, evidence.outputs);
  result.log_prob = result.log_prob + likely.to(result.log_prob.scalar_type());
  result.beliefs = marginals(believed, evidence.outputs);
  result.predictions.outputs = evidence.outputs.unsqueeze(1);
  result.predictions.probability = torch::ones({beliefs.size(0), 1});
  return result;
}

}  // namespace anesi
