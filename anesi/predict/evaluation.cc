#include "anesi/predict/evaluation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "anesi/core/known_variables.h"
#include "anesi/core/score.h"
#include "anesi/models/beam.h"
#include "anesi/models/sample.h"
#include "anesi/predict/predictor.h"
#include "anesi/predict/renaming.h"
#include "anesi/predict/right_outputs.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

// Enough to keep the cores busy, few enough to stay in memory with a wide beam.
constexpr std::int64_t kVariablesAtOnce = 2000;
constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

double milliseconds_per_query(const Predictor& predictor, const Examples& data, std::int64_t beam) {
  // The median of as many queries as fit in about half a second.
  using Clock = std::chrono::steady_clock;
  if (data.size() == 0) return 0;
  std::vector<double> times;
  const auto stop = Clock::now() + std::chrono::milliseconds(500);
  for (std::int64_t query = 0; query < 3 || (Clock::now() < stop && query < 200); ++query) {
    const auto row = query % data.size();
    const auto batch = data.batch(row, row + 1);
    const auto start = Clock::now();
    beam_search(*predictor.model().prediction, predictor.perception().forward(batch.inputs), beam, predictor.pruning());
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// The probability that q gives to its own decision. Where the labels only say whether one output holds, that is the
// decision: for that output, or against it.
torch::Tensor confidence(const Observations& seen, const torch::Tensor& predicted, const torch::Tensor& log_prob,
                         const torch::Tensor& log_prob_of_label) {
  if (!seen.holds.defined()) return log_prob.exp();
  const auto share = log_prob_of_label.exp().to(log_prob.scalar_type());
  return torch::where((predicted == seen.outputs).all(1), share, 1 - share);
}

}  // namespace

std::vector<ReliabilityBin> reliability(const torch::Tensor& confidence, const torch::Tensor& right,
                                        std::int64_t bins) {
  const auto count = static_cast<double>(bins);
  const auto sure = confidence.to(torch::kFloat64), hits = right.to(torch::kFloat64);
  const auto bin = (sure * count).floor().clamp(0, count - 1).to(torch::kInt64);
  const auto sum_of = [&](const torch::Tensor& values) {
    return torch::zeros({bins}, torch::kFloat64).index_add(0, bin, values);
  };
  const auto examples = sum_of(torch::ones_like(sure)), believed = sum_of(sure), seen = sum_of(hits);
  std::vector<ReliabilityBin> result;
  for (std::int64_t place = 0; place < bins; ++place) {
    const auto there = examples[place].item<double>(), among = std::max(1.0, there);
    result.push_back({.low = static_cast<double>(place) / count,
                      .high = static_cast<double>(place + 1) / count,
                      .examples = static_cast<std::int64_t>(there),
                      .confidence = believed[place].item<double>() / among,
                      .right = seen[place].item<double>() / among});
  }
  return result;
}

double expected_calibration_error(const torch::Tensor& confidence, const torch::Tensor& right, std::int64_t bins) {
  double apart = 0;
  for (const auto& bin : reliability(confidence, right, bins)) {
    apart += std::abs(bin.confidence - bin.right) * static_cast<double>(bin.examples);
  }
  return apart / static_cast<double>(std::max<std::int64_t>(1, confidence.numel()));
}

// Scores worlds, int64 [examples, variables], against labels that are worlds.
Evaluation::Structured structured_score(const Problem& problem, const Examples& data, const torch::Tensor& worlds) {
  const auto& labels = data.labels();
  auto scored = labels.worlds != kUnset;
  const auto* const known = problem.facts().find<KnownVariables>();
  for (const auto variable : known != nullptr ? known->variables : std::vector<std::int64_t>{}) {
    scored.select(1, variable).fill_(false);
  }
  const auto wrong = (worlds != labels.worlds).logical_and(scored);
  const auto whole = scored.any(1);  // labelled at all
  const auto share = [](const torch::Tensor& of, const torch::Tensor& among) {
    return of.logical_and(among).sum().item<double>() / std::max(1.0, among.sum().item<double>());
  };
  const auto outputs = apply(problem, worlds);
  return {.exact_match = share(wrong.any(1).logical_not(), whole),
          .per_variable = share(wrong.logical_not(), scored),
          .satisfied = (outputs == labels.outputs).all(1).to(torch::kFloat64).mean().item<double>()};
}

Evaluation Predictor::evaluate(const Examples& data, const EvaluateSettings& settings) const {
  const torch::InferenceMode inference;
  const auto& problem = this->problem();
  const auto& model = parts_.model;
  const auto beam_width = settings.beam > 0 ? settings.beam : options().beam;
  const bool labelled = data.labels().outputs.defined();  // where labels tell worlds alone, only those can be scored
  const bool structured = labelled && data.labels().worlds.defined();
  const bool explains = chooses() && model.explanation != nullptr && settings.explanations > 0 && !structured;
  auto generator = seeded(1);  // the same samples for the same model
  const auto step = std::max<std::int64_t>(1, kVariablesAtOnce / problem.worlds().variables());
  std::vector<torch::Tensor> confidences, hits, read, explained, constrained;
  double symbolic = 0, nll = 0, decided = 0, satisfied = 0;
  for (std::int64_t begin = 0; begin < data.size(); begin += step) {
    const auto batch = data.batch(begin, std::min(begin + step, data.size()));
    const auto beliefs = parts_.perception->forward(batch.inputs);
    check_beliefs(beliefs, problem.worlds());
    const auto worlds = most_likely_worlds(beliefs);
    const auto& seen = batch.observations;
    read.push_back(worlds);
    if (!labelled) continue;
    symbolic += right_outputs(problem, batch, apply(problem, worlds)).sum().item<double>();
    const auto log_prob = model.prediction->log_prob(beliefs, seen.outputs);
    nll -= seen.log_prob(log_prob).sum().item<double>();
    torch::Tensor predicted;
    if (chooses()) {
      const auto beam = beam_search(*model.prediction, beliefs, beam_width, pruning());
      predicted = beam.values.select(1, 0);
      hits.push_back(right_outputs(problem, batch, predicted));
      confidences.push_back(confidence(seen, predicted, beam.log_prob.select(1, 0), log_prob));
    } else {
      // All that can be said is whether the label's output is more likely than not.
      const auto share = log_prob.exp(), likely = share > 0.5;
      hits.push_back(seen.holds.defined() ? likely == seen.holds : likely);
      confidences.push_back(torch::where(likely, share, 1 - share));
    }
    if (decision()) {
      const auto scores = decision()->scores(problem, *model.prediction, beliefs, seen.outputs);
      decided += ((decision()->probability(scores) > 0.5) == seen.holds).sum().item<double>();
    }
    if (structured) constrained.push_back(most_probable_worlds(beliefs, seen.outputs, beam_width));
    if (!explains) continue;
    const Context context(beliefs, predicted.contiguous());
    const auto best = anesi::explain(*model.explanation, context, beam_width, pruning()).values.select(1, 0);
    explained.push_back(best);
    for (std::int64_t draw = 0; draw < settings.explanations; ++draw) {
      const auto drawn = anesi::sample(*model.explanation, context, generator, pruning()).values;
      satisfied += (apply(problem, drawn) == context.outputs).all(1).sum().item<double>();
    }
  }
  Evaluation result;
  result.examples = data.size();
  if (data.size() == 0) return result;
  const bool names = problem.facts().find<ValuesAreNames>() != nullptr;
  const auto variables_right = [&](const std::vector<torch::Tensor>& parts) {
    return data.has_worlds() ? share_right(torch::cat(parts), data.worlds(), names) : kNotKnown;
  };
  result.per_variable = variables_right(read);
  if (!labelled) {
    result.symbolic = result.neural = result.nll = result.ece = result.accuracy = kNotKnown;
    return result;
  }
  const auto examples = static_cast<double>(data.size());
  const auto right = torch::cat(hits);
  result.symbolic = symbolic / examples;
  result.neural = right.to(torch::kFloat64).mean().item<double>();
  result.nll = nll / examples;
  result.ece = expected_calibration_error(torch::cat(confidences), right);
  if (settings.outcomes) result.outcomes = Evaluation::Outcomes{torch::cat(read), torch::cat(confidences), right};
  if (!q_learned()) result.neural = result.nll = result.ece = kNotKnown;
  if (explains) {
    result.sampled = data.size() * settings.explanations;
    result.explanation = variables_right(explained);
    result.satisfied = satisfied / static_cast<double>(result.sampled);
  }
  if (decision()) result.decided = decided / examples;
  if (structured) {
    result.believed = structured_score(problem, data, torch::cat(read));
    result.constrained = structured_score(problem, data, torch::cat(constrained));
  }
  switch (options().decide) {
    case Decide::kNeural:
      result.accuracy = result.neural;
      break;
    case Decide::kSymbolic:
      result.accuracy = structured ? result.believed->exact_match : result.symbolic;
      break;
    case Decide::kConstrained:
      if (!structured) throw UsageError("eval.decide=constrained: the labels of this task are outputs, not worlds");
      result.accuracy = result.constrained->exact_match;
      break;
    case Decide::kLikelihood:
    case Decide::kGap:
      result.accuracy = result.decided.value_or(result.symbolic);
      break;
  }
  if (settings.time_queries && chooses()) result.ms_per_query = milliseconds_per_query(*this, data, beam_width);
  return result;
}

}  // namespace anesi
