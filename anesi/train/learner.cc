#include "anesi/train/learner.h"

#include <algorithm>

#include "anesi/core/error.h"
#include "anesi/core/seeded.h"
#include "anesi/exact/exact_model.h"
#include "anesi/models/architecture.h"
#include "anesi/models/module_tensors.h"
#include "anesi/priors/certain.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/train/choose_q.h"
#include "anesi/train/watch.h"

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
    : problem(std::move(the_problem)),
      make_perception(std::move(make)),
      training(std::move(examples)),
      seed(the_seed),
      generator(seeded(the_seed)),
      rows(torch::arange(training->size(), torch::kInt64)) {
  const SeededWeights weights(seed);
  perception = make_perception();
}

void Learner::learn_through(const std::string& architecture, const std::vector<std::string>& settings, bool explain,
                            const AmortizedOptions& options) {
  const SeededWeights weights(seed + 1);
  learn_through(make_model(*problem, architecture, explain, settings), options);
}

void Learner::learn_through_what_suits(const DiscoverOptions& options,
                                       const std::function<void(const std::string&)>& say) {
  const auto make = [this](const Problem& of, const std::string& architecture) {
    const SeededWeights weights(seed + 1);
    return architecture == kExactArchitecture ? make_exact_model(of) : make_model(of, architecture);
  };
  const auto chosen = choose_q(problem, options, seed, make, say);
  if (say) say(chosen.reason);
  problem = chosen.problem;
  if (!chosen.is_exact()) {
    learn_through(make(*problem, chosen.architecture));
    return;
  }
  take_memory(*this, problem);
  watched = {.worlds = options.watched, .options = options};
}

void Learner::learn_through(InferenceModel q, const AmortizedOptions& options, std::unique_ptr<BeliefPrior> prior) {
  model = std::move(q);
  learns_q = true;
  const auto learned = pieces ? pieces->problem : problem;
  if (!prior) {
    if (model.prediction->multilinear()) {
      prior = std::make_unique<CertainBeliefs>(learned->worlds());
    } else {
      prior = std::make_unique<FixedDirichlet>(learned->worlds(), 0.2);
    }
  }
  loss = std::make_unique<AmortizedLoss>(learned, model, std::move(prior), options, generator);
}

Batch Learner::shown(const torch::Tensor& some, at::Generator draws) const {
  return pieces ? pieces->draw(*training, some, std::move(draws)) : training->batch(some);
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
  make_optimizer();
}

void Learner::make_optimizer() {
  optimizer = std::make_unique<Adam>(perception->parameters(), AdamOptions{.weight_decay = weight_decay});
}

Predictor Learner::predictor(const PredictorOptions& options) const {
  return Predictor({.problem = problem,
                    .perception = current_perception(),
                    .model = model,
                    .options = options,
                    .decision = {},
                    .q_learned = through_q});
}

std::optional<Evaluation> Learner::evaluate() const {
  if (!held_out || !held_out->labels().outputs.defined()) return std::nullopt;
  return predictor({.beam = 1}).evaluate(*held_out);
}

}  // namespace anesi
