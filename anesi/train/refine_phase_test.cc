#include "anesi/train/refine_phase.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/models/exact_model.h"
#include "anesi/models/module_tensors.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/rows.h"
#include "anesi/testing/lookup.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

using toys::Lookup;

// Every world of two variables of three values, whose inputs are those values and whose sum is known.
std::shared_ptr<const Examples> all_sums(const std::function<void(Observations&)>& change = {}) {
  const auto worlds = points_of(Space::uniform(2, 3));
  Observations labels(worlds.sum(1, /*keepdim=*/true));
  if (change) change(labels);
  return tensor_examples(worlds.to(torch::kFloat32), labels, worlds);
}

// Perception looks at each number by itself or, as far as refinement knows, at an example as a whole. At first it is
// sure of 0 and of 2, in two minds about 1.
Learner half_blind(const std::shared_ptr<const Examples>& examples = all_sums(), bool separable = true) {
  Learner learner(
      toys::sum_of_two(), [separable] { return std::make_shared<Lookup>(3, separable); }, examples, /*seed=*/3);
  learner.perception = std::make_shared<Lookup>(torch::tensor({{9.0, 0.0, 0.0}, {2.0, 1.5, 0.0}, {0.0, 0.0, 9.0}}));
  learner.augment = [](const torch::Tensor& inputs, const at::Generator&) { return inputs; };
  return learner;
}

TEST(Refine, ALabelCorrectsWhatPerceptionAloneMisreads) {
  const auto learner = half_blind();
  const auto& truth = learner.training->worlds();
  const auto labels = explain_labels(learner, RefineOptions());
  EXPECT_FALSE(
      torch::equal(most_likely_worlds(learner.perception->forward(learner.training->batch(0, 9).inputs)), truth));
  EXPECT_TRUE(torch::equal(labels.rows, torch::arange(9)));
  EXPECT_TRUE(torch::equal(labels.worlds, truth));
  EXPECT_GT(labels.gap, 0);
}

TEST(Refine, LeavesOutLabelsThatDoNotHoldAndThoseBeyondTheLimit) {
  const auto not_all_hold = [](Observations& labels) {
    labels.holds = torch::ones({9}, torch::kBool);
    labels.holds[2] = false;
  };
  const auto labels = explain_labels(half_blind(all_sums(not_all_hold)), RefineOptions());
  EXPECT_TRUE(torch::equal(labels.rows, torch::tensor({0, 1, 3, 4, 5, 6, 7, 8})));
  const auto one_is_absurd = all_sums([&](Observations& changed) {
    not_all_hold(changed);
    changed.outputs[0] = 4;  // two inputs of 0 that are said to add up to 4: eighteen nats away
  });
  RefineOptions strict;
  strict.limits.nats = 10;
  EXPECT_EQ(explain_labels(half_blind(one_is_absurd), strict).rows[0].item<std::int64_t>(), 1);
}

TEST(Refine, WhatALabelTellsOfTheWorldIsPartOfItsExplanation) {
  // Perception would rather read a sum of 2 as 0 and 2, but two of its labels tell the first number.
  const auto tell = [](Observations& labels) {
    labels.worlds = torch::full({9, 2}, kUnset);
    labels.worlds[2][0] = 1;
    labels.worlds[6][0] = 0;
  };
  const auto learner = half_blind(all_sums(tell));
  const auto labels = explain_labels(learner, RefineOptions());
  EXPECT_TRUE(torch::equal(labels.worlds[2], torch::tensor({1L, 1L})));
  EXPECT_TRUE(torch::equal(labels.worlds[6], torch::tensor({0L, 2L})));
}

TEST(Refine, LabelsThatAreWholeWorldsExplainThemselves) {
  const auto worlds_only = [](Observations& labels) {
    labels.outputs = torch::Tensor();
    labels.worlds = points_of(Space::uniform(2, 3));
    labels.worlds[4][1] = kUnset;
  };
  const auto labels = explain_labels(half_blind(all_sums(worlds_only)), RefineOptions());
  EXPECT_TRUE(torch::equal(labels.rows, torch::tensor({0, 1, 2, 3, 5, 6, 7, 8})));
  EXPECT_TRUE(torch::equal(labels.worlds[4], torch::tensor({1L, 2L})));
  const auto no_whole_one = all_sums([&](Observations& changed) {
    worlds_only(changed);
    changed.worlds.select(1, 0).fill_(kUnset);
  });
  EXPECT_THROW(explain_labels(half_blind(no_whole_one), RefineOptions()), UsageError);
  RefineOptions by_kinds;
  by_kinds.labels = LabelsBy::kKinds;
  EXPECT_THROW(explain_labels(half_blind(all_sums(worlds_only)), by_kinds), UsageError);
}

TEST(Refine, SoftExplanationsAreWhatIsBelievedOnceTheLabelIsKnown) {
  auto learner = half_blind();
  RefineOptions options;
  options.labels = LabelsBy::kMarginals;
  EXPECT_THROW(explain_labels(learner, options), UsageError) << "there is no q";
  learner.model = make_exact_model(*learner.problem, {.method = "enumerate"});
  const auto labels = explain_labels(learner, options);
  const auto batch = learner.training->batch(0, 9);
  const auto beliefs = learner.perception->forward(batch.inputs).detach().to(torch::kFloat64);
  const auto expected = make_exact(*learner.problem)->marginals(beliefs, batch.observations.outputs);
  EXPECT_TRUE(torch::allclose(labels.marginals.to(torch::kFloat64), expected, 1e-5, 1e-6)) << labels.marginals;
  EXPECT_TRUE(torch::equal(labels.worlds, labels.marginals.argmax(2)));
}

TEST(Refine, LearnsFromSoftExplanations) {
  auto learner = half_blind();
  learner.model = make_exact_model(*learner.problem, {.method = "enumerate"});
  RefineOptions options;
  options.labels = LabelsBy::kMarginals;
  options.epochs = 60;
  options.batch = 6;
  options.smoothing = 0;
  options.weight_decay = 0;
  options.schedule.lr = 0.1;
  RefinePhase phase(learner, options);
  phase.begin();
  for (std::int64_t step = 0; step < phase.steps(); ++step) phase.step(step);
  const auto beliefs = learner.refined->forward(learner.training->batch(0, 9).inputs);
  EXPECT_TRUE(torch::equal(most_likely_worlds(beliefs), learner.training->worlds()));
}

TEST(Refine, TakesTheTrueWorldsWhereAskedAndKnown) {
  RefineOptions options;
  options.labels = LabelsBy::kTruth;
  const auto learner = half_blind();
  const auto labels = explain_labels(learner, options);
  EXPECT_TRUE(torch::equal(labels.worlds, learner.training->worlds()));
  const auto some = learner.training->worlds().clone();
  some[4][1] = kUnset;
  const auto partly = tensor_examples(learner.training->inputs(torch::arange(9)), learner.training->labels(), some);
  EXPECT_TRUE(torch::equal(explain_labels(half_blind(partly), options).rows, torch::tensor({0, 1, 2, 3, 5, 6, 7, 8})));
  const auto none = tensor_examples(learner.training->inputs(torch::arange(9)), learner.training->labels());
  EXPECT_THROW(explain_labels(half_blind(none), options), UsageError);
}

struct Way {
  std::int64_t members;
  bool fresh;
  double average;
  bool separable;

  friend void PrintTo(const Way& way, std::ostream* out) {
    *out << way.members << (way.fresh ? " fresh, " : ", ") << "average " << way.average
         << (way.separable ? ", variables apart" : "");
  }
};

class RefineInSomeWay : public testing::TestWithParam<Way> {};

TEST_P(RefineInSomeWay, LearnsTheExplanationsAndResumesBitForBit) {
  const auto& way = GetParam();
  RefineOptions options;
  options.epochs = 40;
  options.batch = 4;
  options.members = way.members;
  options.fresh = way.fresh;
  options.average = way.average;
  options.augment = true;
  options.schedule.lr = 0.1;
  // A learner and its phase, brought from one step to another.
  struct Refinement {
    explicit Refinement(const Way& how, const RefineOptions& options)
        : learner(half_blind(all_sums(), how.separable)), phase(learner, options) {
      phase.begin();
    }
    void go(std::int64_t from, std::int64_t to) {
      for (auto step = from; step < to; ++step) phase.step(step);
    }
    Learner learner;
    RefinePhase phase;
  };
  Refinement straight(way, options);
  const auto steps = straight.phase.steps();
  straight.go(0, steps);
  const auto beliefs = straight.learner.refined->forward(straight.learner.training->batch(0, 9).inputs);
  check_beliefs(beliefs, straight.learner.problem->worlds());
  EXPECT_TRUE(torch::equal(most_likely_worlds(beliefs), straight.learner.training->worlds()));

  for (const auto stop : {std::int64_t{7}, steps / way.members, steps - 1}) {
    Refinement first(way, options);
    first.go(0, stop);
    const auto state = copied(first.phase.state());
    Refinement second(way, options);
    second.phase.load_state(state);
    second.phase.begin();
    second.go(stop, steps);
    const auto expected = straight.learner.refined->parameters(), got = second.learner.refined->parameters();
    ASSERT_EQ(expected.size(), got.size());
    for (std::size_t place = 0; place < expected.size(); ++place) {
      EXPECT_TRUE(torch::equal(expected[place], got[place])) << "stopped after " << stop;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, RefineInSomeWay,
                         testing::Values(Way{1, true, 0.0, true}, Way{1, false, 0.9, true}, Way{3, true, 0.9, true},
                                         Way{1, true, 0.9, false}));

TEST(Refine, SaysWhatItLacks) {
  RefineOptions options;
  options.epochs = 1;
  auto unexplained = half_blind();
  unexplained.explained = ExplainedLabels{
      .rows = torch::empty({0}, torch::kInt64), .worlds = torch::empty({0, 2}, torch::kInt64), .gap = 40};
  RefinePhase phase(unexplained, options);
  EXPECT_THROW(phase.begin(), Error);
  options.augment = true;
  auto plain = half_blind();
  plain.augment = {};
  EXPECT_THROW(RefinePhase(plain, options), UsageError);
}

}  // namespace
}  // namespace anesi
