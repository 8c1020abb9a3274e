// What is predicted, in words and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "anesi/answers/answers.h"
#include "anesi/core/asked_output.h"
#include "anesi/discover/discover.h"
#include "anesi/models/exact_model.h"
#include "anesi/options/option_table.h"
#include "anesi/predict/right_outputs.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/tensors/worlds.h"

namespace anesi {
namespace {

// Outputs with their probabilities, for people: those that read the same are one line, and what is next to impossible
// is counted.
class ShownOutputs {
 public:
  void add(const std::string& text, double probability) {
    const auto place = std::ranges::find(lines_, text, &Line::text);
    if (place == lines_.end()) {
      lines_.push_back({text, probability, 1});
    } else {
      place->probability += probability;
      ++place->outputs;
    }
  }

  std::string to_string() const {
    constexpr double kNothing = 5e-7;  // is shown as 0.0000 %
    std::string text;
    std::int64_t left_out = 0;
    for (const auto& line : lines_) {
      if (&line != lines_.data() && line.probability < kNothing) {
        left_out += line.outputs;
        continue;
      }
      text += fmt::format("{:>8.4f} %  {}{}\n", 100 * line.probability, line.text,
                          line.outputs > 1 ? fmt::format(", {} of them together", line.outputs) : "");
    }
    if (left_out > 0) text += fmt::format("{:>8} %  each of {} more\n", "<0.0001", left_out);
    return text;
  }

 private:
  struct Line {
    std::string text;
    double probability;
    std::int64_t outputs;
  };
  std::vector<Line> lines_;
};

}  // namespace

Answer Answers::tell_predictions(const Predictions& predicted) const {
  const auto world = values_of(predicted.worlds[0]);
  Answer answer{.json = {{"task", task_},
                         {"read", shown_.world(world)},
                         {"world", world},
                         {"symbolic", shown_.output(values_of(predicted.symbolic[0]))}},
                .text = fmt::format("read:\n{}\n", shown_.layout(world))};
  auto& json = answer.json;
  json["outputs"] = nlohmann::ordered_json::array();
  ShownOutputs outputs;
  const auto show = [&](const std::vector<std::int64_t>& output, double probability) {
    json["outputs"].push_back({{"text", shown_.output(output)}, {"output", output}, {"probability", probability}});
    outputs.add(shown_.output(output), probability);
  };
  for (std::int64_t place = 0; place < predicted.outputs.size(1); ++place) {
    const auto probability = predicted.probability[0][place].item<double>();
    if (place > 0 && probability == 0) break;  // no output is left
    show(values_of(predicted.outputs[0][place]), probability);
  }
  const auto* const asked = predictor_.problem().facts().find<AskedOutput>();
  // A q that cannot choose can still say how likely this output is.
  if (asked != nullptr && !predictor_.chooses()) show(asked->output, predicted.asked.item<double>());
  if (asked != nullptr && predicted.holds.defined()) {
    const auto share = predicted.holds.item<double>();
    json["decided"] = {{"text", shown_.output(asked->output)}, {"probability", share}};
    answer.text += fmt::format("decided by {}: {} with probability {:.2f} %\nq by itself:\n",
                               name_of(predictor_.decision()->by), shown_.output(asked->output), 100 * share);
  }
  answer.text += outputs.to_string();
  if (asked != nullptr && predicted.constrained.defined()) {
    const auto constrained = values_of(predicted.constrained[0]);
    json["constrained"] = {{"text", shown_.world(constrained)}, {"world", constrained}};
    answer.text +=
        fmt::format("most probable world for \"{}\":\n{}\n", shown_.output(asked->output), shown_.layout(constrained));
  }
  return answer;
}

void Answers::certify(const AskedInput& input, std::int64_t draws, Answer& answer) const {
  const bool by_tables = predictor_.model().architecture == "tables";
  const bool certain = by_tables || predictor_.model().architecture == kExactArchitecture;
  const WorldSource source{worlds_of_beliefs(input.beliefs), "this belief"};
  Random random(0);
  const auto certificate = certain ? certify_facts(predictor_.problem(), source, draws, random) : std::nullopt;
  answer.json["certificate"] = nullptr;
  if (!certificate) {
    answer.text += certain ? "exact: c itself is summed over\n" : "no certificate: q is a network that learned c\n";
    return;
  }
  answer.json["certificate"] = {{"draws", certificate->draws},
                                {"differing", certificate->differing},
                                {"level", certificate->level},
                                {"bound", certificate->bound},
                                {"of", by_tables ? "each output" : "all outputs"}};
  answer.text += fmt::format(
      "certificate: {} from exact by at most {:.2e} in total variation ({:.0f} %; c differed on {} of {} worlds "
      "drawn)\n",
      by_tables ? "each output by itself is" : "probabilities are", certificate->bound, 100 * certificate->level,
      certificate->differing, certificate->draws);
}

Answer Answers::predict(const AskedInput& input, std::int64_t top, std::int64_t certify) const {
  auto answer = tell_predictions(predictor_.predict(input.beliefs, top));
  if (certify > 0) this->certify(input, certify, answer);
  add_label(input, answer);
  return answer;
}

Judged Answers::judged(const Batch& batch, const torch::Tensor& beliefs, const Predictions& predicted,
                       std::int64_t row) const {
  const auto only = [row](const torch::Tensor& rows) { return rows.slice(0, row, row + 1); };
  const auto seen = batch.observations.rows(torch::tensor({row}));
  const auto* const asked = predictor_.problem().facts().find<AskedOutput>();
  Judged judged;
  judged.read = values_of(predicted.worlds[row]);
  judged.label = shown_.label(seen);

  if (predicted.constrained.defined() && seen.worlds.defined()) {
    const auto world = values_of(predicted.constrained[row]);
    const auto log_prob = world_log_prob(only(beliefs).to(torch::kFloat64), only(predicted.constrained));
    judged.predicted = shown_.world(world);
    // p(w|y,P) is p(w|P) over q(y|P).
    judged.probability = std::min(1.0, std::exp(log_prob.item<double>()) / predicted.asked[row].item<double>());
    judged.right = torch::equal(only(predicted.constrained), seen.worlds);
    judged.words = "under the constraint " + judged.predicted;
    return judged;
  }
  if (predicted.holds.defined() && asked != nullptr && seen.holds.defined()) {
    const auto share = predicted.holds[row].item<double>();
    const bool holds = share > 0.5;
    const auto text = shown_.output(asked->output);
    judged.predicted = (holds ? "" : "not ") + text;
    judged.probability = holds ? share : 1 - share;
    judged.right = holds == seen.holds.item<bool>();
    judged.words = fmt::format("{} with probability {:.2f} %", text, 100 * share);
    if (const auto& decision = *predictor_.decision(); decision.by == ScoredBy::kGap) {
      const auto score = (std::log(share) - std::log1p(-share) - decision.offset) / decision.slope;
      judged.gap = std::clamp(-score, 0.0, decision.limits.nats);
    }
    return judged;
  }
  const bool chosen = predictor_.chooses();
  const Batch alone{batch.inputs.slice(0, row, row + 1), seen,
                    batch.worlds.defined() ? only(batch.worlds) : torch::Tensor()};
  const auto best = chosen ? only(predicted.outputs).select(1, 0) : only(predicted.symbolic);
  judged.predicted = shown_.output(values_of(best[0]));
  if (!chosen) {  // q only says how likely an output is
    const auto told = [&](const torch::Tensor& outputs) {
      const torch::NoGradGuard no_gradients;
      return predictor_.model().prediction->log_prob(only(beliefs), outputs).exp().item<double>();
    };
    judged.probability = told(best);
    judged.right = right_outputs(predictor_.problem(), alone, best).item<bool>();
    judged.words = fmt::format("{} with {:.1f} %", shown_.output(values_of(seen.outputs[0])), 100 * told(seen.outputs));
    return judged;
  }
  judged.probability = predicted.probability[row][0].item<double>();
  judged.right = right_outputs(predictor_.problem(), alone, best).item<bool>();
  judged.words = fmt::format("predicted {} ({:.1f} %)", judged.predicted, 100 * judged.probability);
  return judged;
}

std::vector<Judged> Answers::judge(const Examples& examples, std::int64_t begin, std::int64_t end) const {
  const auto batch = examples.batch(begin, end);
  const auto beliefs = predictor_.beliefs(batch.inputs);
  const auto predicted = predictor_.predict(beliefs, 1);
  std::vector<Judged> judgements;
  for (std::int64_t row = 0; row < end - begin; ++row) judgements.push_back(judged(batch, beliefs, predicted, row));
  return judgements;
}

}  // namespace anesi
