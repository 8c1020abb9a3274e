#include "anesi/train/knowledge.h"

#include "anesi/core/seeded.h"
#include "anesi/exact/exact_model.h"
#include "anesi/losses/exact.h"
#include "anesi/models/architecture.h"
#include "anesi/priors/certain.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/train/choose_q.h"
#include "anesi/train/watch.h"

namespace anesi {

Knowledge::Knowledge(std::shared_ptr<const Problem> the_problem, std::uint64_t the_seed)
    : problem(std::move(the_problem)), seed(the_seed), generator(seeded(the_seed)) {}

void Knowledge::learn_through(const std::string& architecture, const std::vector<std::string>& settings, bool explain,
                              const AmortizedOptions& options) {
  const SeededWeights weights(seed + 1);
  learn_through(make_model(*problem, architecture, explain, settings), options);
}

void Knowledge::learn_exactly(const ExactOptions& options) {
  model = make_exact_model(*problem, options);
  loss = std::make_unique<ExactLoss>(model);
  learns_q = false;
}

void Knowledge::learn_through_what_suits(const DiscoverOptions& options,
                                         const std::function<void(const std::string&)>& told) {
  const auto make = [this](const Problem& of, const std::string& architecture) {
    const SeededWeights weights(seed + 1);
    return architecture == kExactArchitecture ? make_exact_model(of) : make_model(of, architecture);
  };
  const auto chosen = choose_q(problem, options, seed, make, told);
  if (told) told(chosen.reason);
  problem = chosen.problem;
  if (!chosen.is_exact()) {
    learn_through(make(*problem, chosen.architecture));
    return;
  }
  take_memory(*this, problem);
  watched = {.worlds = options.watched, .options = options};
}

void Knowledge::learn_through(InferenceModel q, const AmortizedOptions& options, std::unique_ptr<BeliefPrior> prior,
                              std::shared_ptr<const Problem> sampled) {
  model = std::move(q);
  learns_q = true;
  if (!sampled) sampled = problem;
  if (!prior) {
    if (model.prediction->multilinear()) {
      prior = std::make_unique<CertainBeliefs>(sampled->worlds());
    } else {
      prior = std::make_unique<FixedDirichlet>(sampled->worlds(), 0.2);
    }
  }
  loss = std::make_unique<AmortizedLoss>(std::move(sampled), model, std::move(prior), options, generator);
}

}  // namespace anesi
  prunes = options.prunes();
