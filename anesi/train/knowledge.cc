#include "anesi/train/knowledge.h"

#include <utility>

#include "anesi/core/known_variables.h"
#include "anesi/losses/exact.h"
#include "anesi/models/architecture.h"
#include "anesi/models/exact_model.h"
#include "anesi/priors/certain.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/tensors/seeded.h"
#include "anesi/train/choose_q.h"

namespace anesi {

Knowledge::Knowledge(std::shared_ptr<const Problem> the_problem, std::uint64_t the_seed)
    : problem(std::move(the_problem)), seed(the_seed), generator(seeded(the_seed)) {}

void Knowledge::begin_again() {
  if (declared_) problem = std::exchange(declared_, nullptr);
  model = {};
  loss.reset();
  learns_q = false;
  through_q = true;
  prunes = false;
  watched = {};
  grown = 0;
}

void Knowledge::learn_through(const std::string& architecture, const std::vector<std::string>& settings, bool explain,
                              const AmortizedOptions& options) {
  begin_again();
  const SeededWeights weights(seed + 1);
  learn_through(make_model(*problem, architecture, explain, settings), options);
}

void Knowledge::learn_exactly(const ExactOptions& options) {
  begin_again();
  model = make_exact_model(*problem, options);
  model.eval();
  loss = std::make_unique<ExactLoss>(model);
}

void Knowledge::learn_through_what_suits(const DiscoverOptions& options,
                                         const std::function<void(const std::string&)>& told) {
  begin_again();
  const auto make = [this](const Problem& of, const std::string& architecture) {
    const SeededWeights weights(seed + 1);
    return architecture == kExactArchitecture ? make_exact_model(of) : make_model(of, architecture);
  };
  const auto chosen = choose_q(problem, options, seed, make, told);
  if (told) told(chosen.reason);
  if (chosen.is_exact()) {
    model = chosen.model ? *chosen.model : make(*chosen.problem, kExactArchitecture);
    model.eval();
    loss = std::make_unique<ExactLoss>(model);
    watched = {.worlds = options.watched, .options = options};
  } else {
    learn_through(make(*chosen.problem, chosen.architecture), {}, {}, chosen.problem);
  }
  if (chosen.problem != problem) declared_ = std::exchange(problem, chosen.problem);
}

void Knowledge::learn_through(InferenceModel q, const AmortizedOptions& options, std::unique_ptr<BeliefPrior> prior,
                              std::shared_ptr<const Problem> sampled) {
  begin_again();
  model = std::move(q);
  learns_q = true;
  prunes = options.prunes();
  if (!sampled) sampled = problem;
  if (!prior) {
    if (model.prediction->multilinear()) {
      prior = std::make_unique<CertainBeliefs>(perceived_space(*sampled));
    } else {
      prior = std::make_unique<FixedDirichlet>(perceived_space(*sampled), 0.2);
    }
  }
  loss = std::make_unique<AmortizedLoss>(std::move(sampled), model, std::move(prior), options, generator);
}

}  // namespace anesi
