#include "anesi/train/knowledge.h"

#include <gtest/gtest.h>

#include "anesi/exact/automaton.h"
#include "anesi/exact/found_facts.h"
#include "anesi/losses/exact.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/tiny_training.h"
#include "anesi/testing/toy_problems.h"
#include "anesi/train/learner.h"
#include "anesi/train/train.h"

namespace anesi {
namespace {

// Too many worlds to enumerate and a carry to find: nothing is told of it.
std::shared_ptr<const Problem> undescribed_addition() {
  return with_facts(std::make_shared<toys::Addition>(/*digits=*/3), {});
}

// Each method leaves what it would leave had it been called first.
TEST(Knowledge, AnotherMethodLeavesNothingOfTheFirst) {
  const auto problem = undescribed_addition();
  Knowledge knowledge(problem, /*seed=*/1);
  knowledge.learn_through_what_suits();
  ASSERT_NE(knowledge.problem->facts().find<FoundFacts>(), nullptr);
  ASSERT_GT(knowledge.watched.worlds, 0);
  EXPECT_FALSE(knowledge.learns_q);
  knowledge.grown = 2;
  knowledge.through_q = false;

  knowledge.learn_through("mlp", {"width=8"});
  EXPECT_TRUE(knowledge.learns_q);
  EXPECT_TRUE(knowledge.through_q);
  EXPECT_EQ(knowledge.watched.worlds, 0) << "q would be replaced by a memory that it is not";
  EXPECT_EQ(knowledge.grown, 0);
  EXPECT_EQ(knowledge.problem, problem) << "facts of a memory that was found are not the problem's own";

  // Found again, as by the first.
  knowledge.learn_through_what_suits();
  EXPECT_FALSE(knowledge.learns_q);
  EXPECT_GT(knowledge.watched.worlds, 0);
  EXPECT_NE(knowledge.problem->facts().find<FoundFacts>(), nullptr);
  EXPECT_EQ(knowledge.problem->facts().find<Automaton>()->states(), [&] {
    Knowledge first(problem, /*seed=*/1);
    first.learn_through_what_suits();
    return first.problem->facts().find<Automaton>()->states();
  }());

  Knowledge small(toys::sum_of_two());
  small.learn_through("transducer");
  EXPECT_TRUE(small.learns_q);
  small.learn_exactly();
  EXPECT_FALSE(small.learns_q);
  EXPECT_EQ(small.model.architecture, kExactArchitecture);
  EXPECT_NE(dynamic_cast<ExactLoss*>(small.loss.get()), nullptr);
}

// With q.variant=prune whatever the library answers keeps the rules, as what the program answers does.
TEST(Learner, PredictsUnderThePrunerWhereQLearnedUnderIt) {
  const auto problem = std::make_shared<toys::Addition>(/*digits=*/1, /*base=*/3);
  const auto inputs = points_of(problem->worlds()).to(torch::kFloat32);
  const auto examples = tensor_examples(inputs, apply(*problem, points_of(problem->worlds())));
  Learner learner(
      problem, [] { return std::make_shared<toys::Sensor>(); }, examples, /*seed=*/1);
  const auto violations = [&] {
    const auto predictor = learner.predictor();
    const auto beliefs = predictor.beliefs(inputs);
    const auto outputs = examples->labels().outputs;
    const auto worlds = predictor.sample(beliefs, outputs, 20, seeded(1)).view({-1, 2});
    return (apply(*problem, worlds) != outputs.repeat_interleave(20, 0)).any(1).sum().item<std::int64_t>();
  };
  AmortizedOptions options;
  options.samples = 8;
  options.variant = Variant::kExplain;
  learner.learn_through("scan", {"width=8"}, /*explain=*/true, options);
  EXPECT_FALSE(learner.predictor().prunes_symbolically());
  EXPECT_GT(violations(), 0);
  options.variant = Variant::kPrune;
  learner.learn_through("scan", {"width=8"}, /*explain=*/true, options);
  EXPECT_TRUE(learner.predictor().prunes_symbolically());
  EXPECT_EQ(violations(), 0);
  EXPECT_TRUE(train(learner, {.epochs = 1}));
  EXPECT_EQ(violations(), 0);
  // An option prunes as well, whatever q learned under.
  options.variant = Variant::kExplain;
  learner.learn_through("scan", {"width=8"}, /*explain=*/true, options);
  EXPECT_FALSE(learner.predictor().prunes_symbolically());
  EXPECT_TRUE(learner.predictor({.prune = true}).prunes_symbolically());
}

// -1 ends an output; of a variable that is not known a label says kUnset. Nobody means the value 0.
TEST(Learner, RefusesLabelsOfWorldsThatAreNoValues) {
  const auto worlds = torch::tensor({{0, 1}, {2, 2}});
  for (const std::int64_t unknown : {kUnset, kNone, std::int64_t{-7}}) {
    Observations labels(worlds.sum(1, /*keepdim=*/true));
    labels.worlds = worlds.clone();
    labels.worlds[1][0] = unknown;
    Learner learner(
        toys::sum_of_two(), [] { return std::make_shared<toys::Sensor>(); },
        tensor_examples(worlds.to(torch::kFloat32), labels));
    learner.learn_through("transducer", {}, /*explain=*/false, {.samples = 4});
    if (unknown == kUnset) {
      EXPECT_TRUE(train(learner, {.epochs = 1}));
    } else {
      EXPECT_THROW(train(learner, {.epochs = 1}), UsageError) << unknown;
    }
  }
}

}  // namespace
}  // namespace anesi
