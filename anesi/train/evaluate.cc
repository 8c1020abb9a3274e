#include "anesi/train/evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "anesi/core/beliefs.h"
#include "anesi/core/seeded.h"
#include "anesi/models/beam.h"
#include "anesi/models/sample.h"
#include "anesi/train/renaming.h"

namespace anesi {
namespace {

// Enough to keep the cores busy, few enough to stay in memory with a wide beam.
constexpr std::int64_t kVariablesAtOnce = 2000;

double milliseconds_per_query(Perception& perception, SequenceModel& model, const Dataset& data, std::int64_t beam,
                              const Pruning* pruning) {
  // The median of as many queries as fit in about half a second.
  using Clock = std::chrono::steady_clock;
  if (data.size() == 0) return 0;
  std::vector<double> times;
  const auto stop = Clock::now() + std::chrono::milliseconds(500);
  for (std::int64_t query = 0; query < 3 || (Clock::now() < stop && query < 200); ++query) {
    const auto row = query % data.size();
    const auto inputs = data.batch(row, row + 1).inputs;
    const auto start = Clock::now();
    beam_search(model, perception.forward(inputs), beam, pruning);
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// Whether outputs are what was observed, or as good in the true world, bool [batch].
torch::Tensor right_outputs(const Problem& problem, const Batch& batch, const torch::Tensor& outputs) {
  const auto same = batch.observations.agree(outputs);
  if ((batch.worlds == kUnset).any().item<bool>()) return same;
  return same.logical_or(problem.regret(batch.worlds, outputs) == 0);
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

double expected_calibration_error(const torch::Tensor& confidence, const torch::Tensor& right, std::int64_t bins) {
  const auto sure = confidence.to(torch::kFloat64), hits = right.to(torch::kFloat64);
  const auto bin = (sure * static_cast<double>(bins)).floor().clamp(0, static_cast<double>(bins - 1)).to(torch::kInt64);
  const auto gap = torch::zeros({bins}, torch::kFloat64).index_add(0, bin, sure - hits);  // summed in each bin
  return gap.abs().sum().item<double>() / static_cast<double>(std::max<std::int64_t>(1, sure.numel()));
}

Evaluation evaluate(const Problem& problem, Perception& perception, const InferenceModel& model, const Dataset& data,
                    const EvaluateSettings& settings) {
  const torch::InferenceMode inference;
  perception.eval();
  const bool chooses = model.prediction->has_rollouts();
  const bool explains = chooses && model.explanation != nullptr && settings.explanations > 0;
  auto generator = seeded(1);  // the same samples for the same model
  const auto step = std::max<std::int64_t>(1, kVariablesAtOnce / problem.worlds().variables());
  std::vector<torch::Tensor> confidences, hits, read, explained;
  double symbolic = 0, nll = 0, decided = 0, satisfied = 0;
  for (std::int64_t begin = 0; begin < data.size(); begin += step) {
    const auto batch = data.batch(begin, std::min(begin + step, data.size()));
    const auto beliefs = perception.forward(batch.inputs);
    check_beliefs(beliefs, problem.worlds());
    const auto worlds = most_likely_worlds(beliefs);
    const auto& seen = batch.observations;
    symbolic += right_outputs(problem, batch, problem.apply_batch(worlds)).sum().item<double>();
    read.push_back(worlds);
    const auto log_prob = model.prediction->log_prob(beliefs, seen.outputs);
    nll -= seen.log_prob(log_prob).sum().item<double>();
    torch::Tensor predicted;
    if (chooses) {
      const auto beam = beam_search(*model.prediction, beliefs, settings.beam, settings.pruning);
      predicted = beam.values.select(1, 0);
      hits.push_back(right_outputs(problem, batch, predicted));
      confidences.push_back(confidence(seen, predicted, beam.log_prob.select(1, 0), log_prob));
    } else {
      // All that can be said is whether the label's output is more likely than not.
      const auto share = log_prob.exp(), likely = share > 0.5;
      hits.push_back(seen.holds.defined() ? likely == seen.holds : likely);
      confidences.push_back(torch::where(likely, share, 1 - share));
    }
    if (settings.decision != nullptr) {
      const auto& decision = *settings.decision;
      const auto holds = decision.probability(decision.scores(problem, *model.prediction, beliefs, seen.outputs)) > 0.5;
      decided += (holds == seen.holds).sum().item<double>();
    }
    if (!explains) continue;
    const Context context(beliefs, predicted.contiguous());
    const auto best = explain(*model.explanation, context, settings.beam, settings.pruning).values.select(1, 0);
    explained.push_back(best);
    for (std::int64_t draw = 0; draw < settings.explanations; ++draw) {
      const auto drawn = sample(*model.explanation, context, generator, settings.pruning).values;
      satisfied += (problem.apply_batch(drawn) == context.outputs).all(1).sum().item<double>();
    }
  }
  Evaluation result;
  result.examples = data.size();
  if (data.size() == 0) return result;
  const auto examples = static_cast<double>(data.size());
  const auto right = torch::cat(hits);
  result.symbolic = symbolic / examples;
  result.neural = right.to(torch::kFloat64).mean().item<double>();
  const bool names = problem.values_are_names();
  result.per_variable = share_right(torch::cat(read), data.worlds, names);
  result.nll = nll / examples;
  result.ece = expected_calibration_error(torch::cat(confidences), right);
  if (!settings.q_learned) result.neural = result.nll = result.ece = std::numeric_limits<double>::quiet_NaN();
  if (explains) {
    result.sampled = data.size() * settings.explanations;
    result.explanation = share_right(torch::cat(explained), data.worlds, names);
    result.satisfied = satisfied / static_cast<double>(result.sampled);
  }
  if (settings.decision != nullptr) result.decided = decided / examples;
  result.accuracy = result.decided ? *result.decided : settings.headline_is_neural ? result.neural : result.symbolic;
  if (settings.time_queries && chooses) {
    result.ms_per_query = milliseconds_per_query(perception, *model.prediction, data, settings.beam, settings.pruning);
  }
  return result;
}

}  // namespace anesi
