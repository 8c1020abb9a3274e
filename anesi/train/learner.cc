#include "anesi/train/learner.h"

#include <algorithm>

#include "anesi/core/error.h"
#include "anesi/core/known_variables.h"
#include "anesi/models/module_tensors.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"

namespace anesi {

NamedTensors ExplainedLabels::state() const {
  NamedTensors state{{"rows", rows}, {"worlds", worlds}, {"gap", torch::tensor(gap, torch::kFloat64)}};
  if (marginals.defined()) state["marginals"] = marginals;
  return state;
}

ExplainedLabels ExplainedLabels::from(const NamedTensors& state) {
  for (const char* name : {"rows", "worlds", "gap"}) {
    if (!state.contains(name)) throw Error(std::string("checkpoint: ") + name + " of explained labels is missing");
  }
  ExplainedLabels labels{.rows = state.at("rows"), .worlds = state.at("worlds"), .gap = state.at("gap").item<double>()};
  if (const auto marginals = state.find("marginals"); marginals != state.end()) labels.marginals = marginals->second;
  return labels;
}

Learner::Learner(std::shared_ptr<const Problem> the_problem, MakePerception make,
                 std::shared_ptr<const Examples> examples, std::uint64_t the_seed)
    : Knowledge(std::move(the_problem), the_seed),
      make_perception(std::move(make)),
      training(std::move(examples)),
      rows(torch::arange(training->size(), torch::kInt64)) {
  const SeededWeights weights(seed);
  perception = make_perception();
}

Batch Learner::shown(const torch::Tensor& some, at::Generator draws) const {
  return pieces ? pieces->draw(*training, some, std::move(draws)) : training->batch(some);
}

torch::Tensor Learner::complete(const torch::Tensor& beliefs, const Batch& batch) const {
  if (!batch.known.defined()) return beliefs;
  return complete_beliefs(*shown_problem().facts().find<KnownVariables>(), beliefs, batch.known,
                          shown_problem().worlds());
}

torch::Tensor Learner::draw_rows(std::int64_t batch) const {
  const auto drawn = torch::randint(rows.size(0), {std::min(batch, rows.size(0))}, generator, torch::kInt64);
  return rows.index_select(0, drawn);
}

void Learner::begin_anew(std::uint64_t weights_seed) {
  const SeededWeights weights(weights_seed);
  take_weights(module_tensors(*make_perception(), ""));
}

void Learner::take_weights(const NamedTensors& weights) {
  load_module_tensors(*perception, "", weights, "perception");
  make_optimizers();
}

void Learner::make_optimizers() {
  optimizers.clear();
  const auto turns = loss ? loss->in_turn().size() : 1;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    optimizers.emplace_back(perception->parameters(), AdamOptions{.weight_decay = weight_decay});
  }
}

Predictor Learner::predictor(const PredictorOptions& options) const {
  return Predictor({.problem = problem,
                    .perception = current_perception(),
                    .model = model,
                    .options = options,
                    .decision = {},
                    .prunes = prunes_by(*problem, options, prunes),
                    .q_learned = through_q});
}

std::optional<Evaluation> Learner::evaluate() const {
  if (!held_out || !held_out->labels().outputs.defined()) return std::nullopt;
  PredictorOptions options{.decide = decide};
  if (decide != Decide::kConstrained) options.beam = 1;  // there a beam proposes what is decided among
  return predictor(options).evaluate(*held_out);
}

}  // namespace anesi
