#include "anesi/run/training.h"

#include <gtest/gtest.h>

#include <set>

#include "anesi/core/error.h"
#include "anesi/io/files.h"
#include "anesi/models/module_tensors.h"
#include "anesi/run/run.h"
#include "anesi/tensors/image_examples.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/small_training.h"
#include "anesi/train/perception_step.h"

namespace anesi {
namespace {

using toys::Recorder;
using toys::same;
using toys::SmallTraining;
using toys::StopAfter;

TEST(Training, RunsItsPhasesInOrderAndTheLossFalls) {
  SmallTraining training({"train.epochs=4", "q.pretrain=200", "q.samples=64"});
  Recorder recorder;
  EXPECT_TRUE(training.trainer().run(recorder));
  EXPECT_EQ(recorder.phases, (std::vector<std::string>{"q", "perception", "perception", "perception", "perception"}));
  EXPECT_LT(recorder.losses.back(), recorder.losses.front());
}

TEST(Training, SameSeedSameWeights) {
  SmallTraining one, two, other({"seed=4"});
  Recorder recorder;
  one.trainer().run(recorder);
  two.trainer().run(recorder);
  other.trainer().run(recorder);
  EXPECT_TRUE(same(one.trainer().state(), two.trainer().state()));
  EXPECT_FALSE(same(one.trainer().state(), other.trainer().state()));
}

// Stopped after each of these steps and taken up from its state, training ends as if it had gone straight.
void expect_resumes_bit_for_bit(const std::vector<std::string>& settings, const std::vector<std::int64_t>& stops) {
  SmallTraining straight(settings);
  Recorder recorder;
  straight.trainer().run(recorder);
  for (const auto steps : stops) {
    SmallTraining first(settings);
    StopAfter stop(steps);
    EXPECT_FALSE(first.trainer().run(stop));
    SmallTraining second(settings);
    second.trainer().load_state(first.trainer().state());
    EXPECT_TRUE(second.trainer().run(recorder));
    EXPECT_TRUE(same(straight.trainer().state(), second.trainer().state())) << "stopped after " << steps;
  }
}

class Resuming : public testing::TestWithParam<std::string> {};

TEST_P(Resuming, EqualsGoingStraightBitForBit) {
  const std::vector<std::string> settings{"prior.kind=" + GetParam(), "prior.window=40",
                                          GetParam() == "observed" ? "q.pretrain=0" : "q.pretrain=5"};
  SmallTraining straight(settings);
  Recorder recorder;
  straight.trainer().run(recorder);
  for (const std::int64_t steps : {2, 9, 13}) {  // within q, within the first epoch, in the second
    TemporaryDirectory scratch;
    SmallTraining first(settings);
    auto run = std::make_unique<anesi::Run>(anesi::Run::create(scratch.path() / "run", first.configuration));
    StopAfter stop(steps);
    EXPECT_FALSE(first.trainer().run(stop));
    run->save_checkpoint(*first.training);
    run.reset();

    SmallTraining second(settings);
    const auto reopened = anesi::Run::open(scratch.path() / "run");
    ASSERT_TRUE(reopened.load_checkpoint(*second.training));
    EXPECT_TRUE(second.trainer().run(recorder));
    EXPECT_TRUE(same(straight.trainer().state(), second.trainer().state())) << "stopped after " << steps;
  }
}

INSTANTIATE_TEST_SUITE_P(Priors, Resuming, testing::Values("fixed", "fitted", "observed", "certain"),
                         [](const auto& info) { return info.param; });

TEST(Training, RefinesOnExplainedLabels) {
  const std::vector<std::string> settings{"refine.epochs=1", "refine.members=2", "train.epochs=1"};
  SmallTraining once(settings);
  Recorder recorder;
  EXPECT_TRUE(once.trainer().run(recorder));
  EXPECT_EQ(recorder.phases, (std::vector<std::string>{"q", "perception", "refine"}));
  EXPECT_GT(once.learner().explained->gap, 0);
  EXPECT_NE(once.learner().current_perception(), once.learner().perception);
}

TEST(Training, QFollowsTheRefinedPerception) {
  const std::vector<std::string> settings{"refine.epochs=1", "train.epochs=1", "q.joint_lr=0.001"};
  auto following = settings;
  following.emplace_back("refine.q_steps=4");
  SmallTraining stays(settings), follows(following);
  Recorder recorder, ignored;
  EXPECT_TRUE(stays.trainer().run(ignored));
  EXPECT_TRUE(follows.trainer().run(recorder));
  EXPECT_EQ(recorder.phases, (std::vector<std::string>{"q", "perception", "refine", "follow"}));
  const auto perceptions = [](const SmallTraining& training) {
    return module_tensors(*training.learner().current_perception(), "");
  };
  EXPECT_TRUE(same(perceptions(stays), perceptions(follows)));
  EXPECT_FALSE(same(model_tensors(stays.learner().model), model_tensors(follows.learner().model)));

  expect_resumes_bit_for_bit(following, {recorder.steps - 3, recorder.steps - 1});
  following.emplace_back("q.frozen=true");
  EXPECT_THROW(SmallTraining{following}, UsageError);
}

TEST(Training, TakesTheQOfAnotherRun) {
  TemporaryDirectory scratch;
  SmallTraining first;
  Recorder recorder, second_recorder;
  EXPECT_TRUE(first.trainer().run(recorder));
  save_model(scratch.path() / "run" / "model", first.training->predictor(), first.training->details());
  const auto from = "q.from=" + (scratch.path() / "run").string();

  SmallTraining second({from, "q.frozen=true", "seed=9"});
  second.training->take_q();
  EXPECT_TRUE(second.trainer().run(second_recorder));
  EXPECT_EQ(second_recorder.phases, (std::vector<std::string>{"perception", "perception"}));
  EXPECT_TRUE(same(model_tensors(first.learner().model), model_tensors(second.learner().model)));

  SmallTraining other({from, "q.architecture=transducer"});
  EXPECT_THROW(other.training->take_q(), Error);
  SmallTraining missing({"q.from=" + (scratch.path() / "none").string()});
  EXPECT_THROW(missing.training->take_q(), Error);
  EXPECT_THROW(SmallTraining({from, "loss=rloo"}), UsageError);
}

// Keeps perception's first weights as each start of the perception phase leaves them, and the gap of each start.
class StartsRecorder final : public TrainingObserver {
 public:
  explicit StartsRecorder(const Learner& learner) : learner_(learner) {}
  void on_evaluation(const Progress& progress, const std::optional<Evaluation>&) override {
    if (progress.phase != "perception") return;
    EXPECT_EQ(progress.restarts, static_cast<std::int64_t>(weights.size()));
    weights.push_back(learner_.perception->parameters()[0].detach().clone());
  }
  std::vector<torch::Tensor> weights;

 private:
  const Learner& learner_;
};

// Starts hardly move at this learning rate, so what differs between them is where they began.
const std::vector<std::string> kImpatient{"refine.epochs=1", "train.epochs=1",           "q.frozen=true",
                                          "train.lr=1e-8",   "refine.restart_gap=0.001", "train.smoothing=0"};

TEST(Training, StartsAnewFromOtherWeightsAndTakesTheBestStart) {
  std::vector<double> gaps;
  std::vector<torch::Tensor> starts, taken;
  for (const char* restarts : {"0", "1", "2", "3"}) {
    auto settings = kImpatient;
    settings.push_back(std::string("refine.restarts=") + restarts);
    SmallTraining training(settings);
    StartsRecorder recorder(training.learner());
    EXPECT_TRUE(training.trainer().run(recorder));
    EXPECT_EQ(std::to_string(training.learner().restarts), restarts);
    gaps.push_back(training.learner().explained->gap);
    starts = recorder.weights;
    taken.push_back(training.learner().perception->parameters()[0].detach().clone());
  }
  ASSERT_EQ(starts.size(), 4);
  for (std::size_t one = 0; one < 4; ++one) {
    for (std::size_t other = 0; other < one; ++other)
      EXPECT_GT((starts[one] - starts[other]).norm().item<double>(), 0.1);
  }
  // One start more never makes the best of them worse, and it is taken exactly where it is better.
  for (std::size_t more = 1; more < 4; ++more) {
    EXPECT_LE(gaps[more], gaps[more - 1]);
    EXPECT_TRUE(torch::equal(taken[more], gaps[more] < gaps[more - 1] ? starts[more] : taken[more - 1]));
  }
  EXPECT_GT(std::set<double>(gaps.begin(), gaps.end()).size(), 1) << "no start was better than the first";
}

TEST(Training, PerceptionDoesNotStartAnewThroughAQThatFollowedIt) {
  auto settings = kImpatient;
  settings.emplace_back("q.frozen=false");
  EXPECT_THROW(SmallTraining{settings}, UsageError);
}

TEST(Training, ResumesAfterARestartBitForBit) {
  auto settings = kImpatient;
  settings.emplace_back("refine.restarts=2");
  const auto per_start = SmallTraining(settings).steps_per_epoch();
  expect_resumes_bit_for_bit(settings, {5 + per_start + 2, 5 + 2 * per_start + 2, 5 + 3 * per_start + 2});
}

TEST(Training, AnEarlierStateForgetsALaterRefinement) {
  const std::vector<std::string> settings{"refine.epochs=1", "train.epochs=1"};
  SmallTraining training(settings);
  StopAfter stop(7);
  training.trainer().run(stop);
  const auto early = training.trainer().state();
  Recorder recorder;
  EXPECT_TRUE(training.trainer().run(recorder));
  const auto end = training.trainer().state();
  training.trainer().load_state(early);
  EXPECT_FALSE(training.learner().explained.has_value());
  EXPECT_EQ(training.learner().current_perception(), training.learner().perception);
  EXPECT_TRUE(training.trainer().run(recorder));
  EXPECT_TRUE(same(end, training.trainer().state()));
}

TEST(Training, ResumesWithinRefinementBitForBit) {
  const std::vector<std::string> settings{"refine.epochs=2", "refine.members=2",    "train.epochs=1",
                                          "q.frozen=true",   "refine.augment=true", "refine.average=0.9"};
  const auto before = 5 + SmallTraining(settings).steps_per_epoch();  // of q and of perception
  expect_resumes_bit_for_bit(settings, {before + 1, before + 9, before + 20});
}

TEST(Training, PerceptionStaysAsItIsInFrozenEpochsWhileQLearns) {
  SmallTraining training({"train.frozen_epochs=1", "q.pretrain=0"});
  const auto weights = [&](torch::nn::Module& module) {
    std::vector<torch::Tensor> flat;
    for (const auto& parameter : module.parameters()) flat.push_back(parameter.detach().clone().flatten());
    return torch::cat(flat);
  };
  auto& q = *training.learner().model.prediction;
  const auto perception_before = weights(*training.learner().current_perception()), q_before = weights(q);
  StopAfter within_the_first(training.steps_per_epoch() - 1);
  training.trainer().run(within_the_first);
  EXPECT_TRUE(torch::equal(weights(*training.learner().current_perception()), perception_before));
  EXPECT_FALSE(torch::equal(weights(q), q_before));
  Recorder recorder;
  training.trainer().run(recorder);
  EXPECT_FALSE(torch::equal(weights(*training.learner().current_perception()), perception_before));
}

TEST(Training, FrozenQStaysAsPretrained) {
  SmallTraining training({"q.frozen=true"});
  StopAfter after_q(5);
  training.trainer().run(after_q);
  std::vector<torch::Tensor> before;
  for (const auto& parameter : training.learner().model.prediction->parameters())
    before.push_back(parameter.detach().clone());
  Recorder recorder;
  training.trainer().run(recorder);
  const auto after = training.learner().model.prediction->parameters();
  for (std::size_t index = 0; index < before.size(); ++index) EXPECT_TRUE(torch::equal(before[index], after[index]));
}

TEST(Training, PerceptionsGradientLeavesQsWeightsAlone) {
  SmallTraining training;
  auto beliefs = training.learner().current_perception()->forward(training.data.train->batch(0, 8).inputs);
  training.learner().loss->loss(beliefs, training.data.train->batch(0, 8).observations).backward();
  for (const auto& parameter : training.learner().model.prediction->parameters())
    EXPECT_FALSE(parameter.grad().defined());
  for (const auto& parameter : training.learner().current_perception()->parameters())
    EXPECT_TRUE(parameter.grad().defined());
}

TEST(Training, ABeliefThatIsNotANumberIsNamed) {
  SmallTraining training;
  const torch::NoGradGuard no_gradients;
  for (auto& parameter : training.learner().current_perception()->parameters()) parameter.fill_(NAN);
  try {
    const torch::AutoGradMode gradients(true);
    perception_step(training.learner(), torch::arange(4, torch::kInt64), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(toys::names(error.what(), {"beliefs", "example 0", "variable 0"}));
  }
}

TEST(Training, StateIsACopy) {
  SmallTraining training;
  StopAfter stop(7);
  training.trainer().run(stop);
  const auto before = training.trainer().state();
  Recorder recorder;
  training.trainer().run(recorder);
  const auto after = training.trainer().state();
  EXPECT_FALSE(same(before, after));
  training.trainer().load_state(before);
  training.trainer().run(recorder);
  EXPECT_TRUE(same(training.trainer().state(), after));
}

TEST(Training, ValidationExamplesAreHeldOut) {
  SmallTraining training({"train.validation=true"});
  EXPECT_EQ(training.data.train->size(), (400 - 66) / 4);
  EXPECT_EQ(training.data.validation->size(), 66 / 4);
  const auto index = [](const std::shared_ptr<const Examples>& examples) {
    return std::dynamic_pointer_cast<const ImageExamples>(examples)->index().view(-1);
  };
  const auto all = torch::cat({index(training.data.train), index(training.data.validation)});
  EXPECT_EQ(std::get<0>(torch::_unique(all)).numel(), all.numel()) << "a digit is used twice";
}

}  // namespace
}  // namespace anesi
