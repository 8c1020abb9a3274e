#include "anesi/train/watch.h"

#include <fmt/format.h>

#include "anesi/core/beliefs.h"
#include "anesi/exact/automaton.h"
#include "anesi/exact/exact_model.h"
#include "anesi/exact/found_facts.h"
#include "anesi/losses/exact.h"

namespace anesi {

void take_memory(Learner& learner, std::shared_ptr<const Problem> problem) {
  learner.problem = std::move(problem);
  learner.model = make_exact_model(*learner.problem);
  learner.loss = std::make_unique<ExactLoss>(learner.model);
}

void watch(Learner& learner, const torch::Tensor& beliefs) {
  const torch::NoGradGuard no_gradients;
  const auto& problem = *learner.problem;
  const auto* const found = problem.facts().find<FoundFacts>();
  if (learner.watched.worlds == 0 || found == nullptr || !found->automaton) return;
  const auto automaton = problem.facts().share<Automaton>();
  const auto rows = torch::randint(beliefs.size(0), {learner.watched.worlds}, learner.generator, torch::kInt64);
  const auto worlds = sample_worlds(beliefs.detach().index_select(0, rows), learner.generator);
  const auto wrong = (automaton->run(worlds) != problem.apply(worlds)).any(1).nonzero().squeeze(1);
  if (wrong.size(0) == 0) return;
  const auto seed = learner.seed + static_cast<std::uint64_t>(++learner.grown);
  const auto again = discover_again(problem, *automaton, worlds.index_select(0, wrong), learner.watched.options, seed);
  if (!again.automaton) {
    // It would be so at every step from here on.
    learner.watched.worlds = 0;
    if (learner.say)
      learner.say("the memory that was found differs from c on a perceived world, and stays: " + again.reason);
    return;
  }
  auto told = *found;
  told.summary = fmt::format(
      "exact inference: a memory of {} states was found, {} of them after {} perceived worlds told it from c",
      again.automaton->states(), again.automaton->states() - automaton->states(), learner.grown);
  if (learner.say) {
    learner.say(
        fmt::format("the memory that was found differed from c on a perceived world: it has {} states now, {} before",
                    again.automaton->states(), automaton->states()));
  }
  take_memory(learner, with(with(learner.problem, again.automaton), told));
}

}  // namespace anesi
