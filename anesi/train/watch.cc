#include "anesi/train/watch.h"

#include <fmt/format.h>

#include "anesi/exact/automaton.h"
#include "anesi/exact/found_facts.h"
#include "anesi/losses/exact.h"
#include "anesi/models/automaton_inference.h"
#include "anesi/models/exact_model.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"

namespace anesi {

void take_memory(Knowledge& knowledge, std::shared_ptr<const Problem> problem) {
  knowledge.problem = std::move(problem);
  knowledge.model = make_exact_model(*knowledge.problem);
  knowledge.model.eval();
  knowledge.loss = std::make_unique<ExactLoss>(knowledge.model);
}

void watch(Knowledge& knowledge, const torch::Tensor& beliefs) {
  const auto* const found = knowledge.problem->facts().find<FoundFacts>();
  if (knowledge.watched.worlds == 0 || found == nullptr || !found->automaton) return;
  const auto wrong = wrong_worlds(knowledge, worlds_to_watch(knowledge, beliefs));
  if (wrong.size(0) > 0) grow_memory(knowledge, wrong);
}

torch::Tensor worlds_to_watch(const Knowledge& knowledge, const torch::Tensor& beliefs) {
  const torch::NoGradGuard no_gradients;
  const auto rows = torch::randint(beliefs.size(0), {knowledge.watched.worlds}, knowledge.generator, torch::kInt64);
  return sample_worlds(beliefs.detach().index_select(0, rows), knowledge.generator);
}

torch::Tensor wrong_worlds(const Knowledge& knowledge, const torch::Tensor& worlds) {
  const torch::NoGradGuard no_gradients;
  const auto& automaton = *knowledge.problem->facts().find<Automaton>();
  const auto differ = (outputs_of(automaton, worlds) != apply(*knowledge.problem, worlds)).any(1);
  return worlds.index_select(0, differ.nonzero().squeeze(1));
}

void grow_memory(Knowledge& knowledge, const torch::Tensor& wrong) {
  const torch::NoGradGuard no_gradients;
  const auto& problem = *knowledge.problem;
  const auto* const found = problem.facts().find<FoundFacts>();
  const auto automaton = problem.facts().share<Automaton>();
  const auto worlds = wrong.to(torch::kCPU).contiguous();
  const auto seed = knowledge.seed + static_cast<std::uint64_t>(++knowledge.grown);
  const auto again = discover_again(problem, *automaton, rows_of(worlds), knowledge.watched.options, seed);
  if (!again.automaton) {
    // It would be so at every step from here on.
    knowledge.watched.worlds = 0;
    if (knowledge.say)
      knowledge.say("the memory that was found differs from c on a perceived world, and stays: " + again.reason);
    return;
  }
  auto told = *found;
  told.summary = fmt::format(
      "exact inference: a memory of {} states was found, {} of them after {} perceived worlds told it from c",
      again.automaton->states(), again.automaton->states() - automaton->states(), knowledge.grown);
  if (knowledge.say) {
    knowledge.say(
        fmt::format("the memory that was found differed from c on a perceived world: it has {} states now, {} before",
                    again.automaton->states(), automaton->states()));
  }
  take_memory(knowledge, with(with(knowledge.problem, again.automaton), told));
}

}  // namespace anesi
