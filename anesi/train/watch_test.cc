#include "anesi/train/watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "anesi/exact/automaton.h"
#include "anesi/exact/found_facts.h"
#include "anesi/models/automaton_inference.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/testing/lookup.h"
#include "anesi/testing/message_of.h"
#include "anesi/train/train.h"

namespace anesi {
namespace {

const std::vector<std::int64_t> kRareBeginning{3, 1, 4, 1, 5, 9, 2};

// A sum modulo three, but for one world in ten million.
std::shared_ptr<const Problem> almost_a_sum() {
  return make_problem(Space::uniform(8, 10), Space{3}, [](Values world, MutableValues output) {
    const auto sum = std::accumulate(world.begin(), world.end(), std::int64_t{0});
    output[0] = (sum + (std::ranges::equal(world.subspan(0, 7), kRareBeginning) ? 1 : 0)) % 3;
  });
}

// Sees the rare world again and again.
Learner rare_learner(std::vector<std::string>* said = nullptr) {
  const auto problem = almost_a_sum();
  auto world = kRareBeginning;
  world.push_back(6);
  const auto worlds = tensor_of(world).unsqueeze(0).repeat({6, 1});
  auto logits = torch::full({10, 10}, -4.0);
  logits.diagonal().fill_(4.0);
  Learner learner(
      problem, [logits] { return std::make_shared<toys::Lookup>(logits); },
      tensor_examples(worlds.to(torch::kFloat32), apply(*problem, worlds), worlds), /*seed=*/2);
  learner.say = [said](const std::string& line) {
    if (said != nullptr) said->push_back(line);
  };
  learner.learn_through_what_suits();
  return learner;
}

std::int64_t mistakes_on_examples(const Learner& learner) {
  const auto& worlds = learner.training->worlds();
  return (outputs_of(*learner.problem->facts().find<Automaton>(), worlds) != apply(*learner.problem, worlds))
      .any(1)
      .sum()
      .item<std::int64_t>();
}

TEST(Watch, AMemoryThatIsWrongOnAPerceivedWorldGrows) {
  std::vector<std::string> said;
  auto learner = rare_learner(&said);
  ASSERT_NE(learner.problem->facts().find<FoundFacts>(), nullptr);
  ASSERT_EQ(mistakes_on_examples(learner), 6) << "draws are not to come upon it";
  const auto states = learner.problem->facts().find<Automaton>()->states();
  train(learner, {.epochs = 1, .batch = 3});
  EXPECT_GE(learner.grown, 1);
  EXPECT_EQ(mistakes_on_examples(learner), 0);
  EXPECT_GT(learner.problem->facts().find<Automaton>()->states(), states);
  ASSERT_FALSE(said.empty());
  const auto grown = learner.problem->facts().find<Automaton>()->states();
  EXPECT_TRUE(toys::names(said.back(), {std::to_string(states), std::to_string(grown)}));
}

TEST(Watch, ACheckpointHoldsWhatTheMemoryBecame) {
  struct Stop final : TrainingObserver {
    bool should_stop() override { return true; }
  };
  const TrainOptions options{.epochs = 2, .batch = 3};
  auto learner = rare_learner(), resumed = rare_learner();
  Trainer trainer(learner, usual_phases(learner, options)), other(resumed, usual_phases(resumed, options));
  Stop stop;
  EXPECT_FALSE(trainer.run(stop));
  ASSERT_EQ(mistakes_on_examples(learner), 0);
  ASSERT_EQ(mistakes_on_examples(resumed), 6);
  other.load_state(trainer.state());
  EXPECT_EQ(mistakes_on_examples(resumed), 0);
  EXPECT_EQ(resumed.grown, learner.grown);
}

}  // namespace
}  // namespace anesi
