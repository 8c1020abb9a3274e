#include "anesi/train/trainer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "anesi/core/beliefs.h"
#include "anesi/core/error.h"
#include "anesi/data/grouped_digits.h"
#include "anesi/data/procedural_digits.h"
#include "anesi/io/files.h"
#include "anesi/io/safetensors.h"
#include "anesi/train/module_tensors.h"
#include "anesi/train/run.h"
#include "anesi/train/saved_model.h"

namespace anesi {
namespace {

DigitSets few_digits() {
  const auto draw = [](std::int64_t count, std::uint64_t seed) {
    const auto digits = render_digits(count, seed);
    return DigitImages{digits.images, digits.labels.to(torch::kInt64)};
  };
  return {draw(400, 1), draw(80, 2), "procedural digits", true};
}

// A small training of mnist-add: everything that training does, in about a second.
struct SmallTraining {
  explicit SmallTraining(const std::vector<std::string>& settings = {}) : configuration("mnist-add", "scan") {
    for (const auto& setting : {"task.digits=2", "scan.width=16", "q.pretrain=5", "q.samples=16", "train.epochs=2",
                                "train.batch=16", "seed=3"}) {
      configuration.table().set(setting);
    }
    for (const auto& setting : settings) configuration.table().set(setting);
    task = configuration.make_task({});
    data = group_digits(few_digits(), *task.problem, {.seed = 3, .validation = configuration.train.validation});
    trainer = std::make_unique<Trainer>(configuration, task, data);
  }

  Configuration configuration;
  Task task;
  Splits data;
  std::unique_ptr<Trainer> trainer;
};

struct StopAfter final : TrainingObserver {
  explicit StopAfter(std::int64_t allowed) : steps(allowed) {}
  bool should_stop() override { return --steps <= 0; }
  std::int64_t steps;
};

struct Recorder final : TrainingObserver {
  void on_step(const Progress&) override { ++steps; }
  void on_evaluation(const Progress& progress, const std::optional<Evaluation>& evaluation) override {
    phases.push_back(progress.phase);
    if (evaluation) losses.push_back(progress.loss);
  }
  std::int64_t steps = 0;  // of all phases
  std::vector<std::string> phases;
  std::vector<double> losses;
};

bool same(const NamedTensors& a, const NamedTensors& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a) {
    if (name != "sums" && !torch::equal(tensor, b.at(name))) return false;  // sums hold seconds
  }
  return true;
}

TEST(Trainer, RunsItsPhasesInOrderAndTheLossFalls) {
  SmallTraining training({"train.epochs=4", "q.pretrain=200", "q.samples=64"});
  Recorder recorder;
  EXPECT_TRUE(training.trainer->run(recorder));
  EXPECT_EQ(recorder.phases, (std::vector<std::string>{"q", "perception", "perception", "perception", "perception"}));
  EXPECT_LT(recorder.losses.back(), recorder.losses.front());
}

TEST(Trainer, SameSeedSameWeights) {
  SmallTraining one, two, other({"seed=4"});
  Recorder recorder;
  one.trainer->run(recorder);
  two.trainer->run(recorder);
  other.trainer->run(recorder);
  EXPECT_TRUE(same(one.trainer->state(), two.trainer->state()));
  EXPECT_FALSE(same(one.trainer->state(), other.trainer->state()));
}

// Stopped after each of these steps and taken up from its state, training ends as if it had gone straight.
void expect_resumes_bit_for_bit(const std::vector<std::string>& settings, const std::vector<std::int64_t>& stops) {
  SmallTraining straight(settings);
  Recorder recorder;
  straight.trainer->run(recorder);
  for (const auto steps : stops) {
    SmallTraining first(settings);
    StopAfter stop(steps);
    EXPECT_FALSE(first.trainer->run(stop));
    SmallTraining second(settings);
    second.trainer->load_state(first.trainer->state());
    EXPECT_TRUE(second.trainer->run(recorder));
    EXPECT_TRUE(same(straight.trainer->state(), second.trainer->state())) << "stopped after " << steps;
  }
}

class Resuming : public testing::TestWithParam<std::string> {};

TEST_P(Resuming, EqualsGoingStraightBitForBit) {
  const std::vector<std::string> settings{"prior.kind=" + GetParam(), "prior.window=40",
                                          GetParam() == "observed" ? "q.pretrain=0" : "q.pretrain=5"};
  SmallTraining straight(settings);
  Recorder recorder;
  straight.trainer->run(recorder);
  for (const std::int64_t steps : {2, 9, 13}) {  // within q, within the first epoch, in the second
    TemporaryDirectory scratch;
    SmallTraining first(settings);
    auto run = std::make_unique<anesi::Run>(anesi::Run::create(scratch.path() / "run", first.configuration));
    StopAfter stop(steps);
    EXPECT_FALSE(first.trainer->run(stop));
    run->save_checkpoint(*first.trainer);
    run.reset();

    SmallTraining second(settings);
    const auto reopened = anesi::Run::open(scratch.path() / "run");
    ASSERT_TRUE(reopened.load_checkpoint(*second.trainer));
    EXPECT_TRUE(second.trainer->run(recorder));
    EXPECT_TRUE(same(straight.trainer->state(), second.trainer->state())) << "stopped after " << steps;
  }
}

INSTANTIATE_TEST_SUITE_P(Priors, Resuming, testing::Values("fixed", "fitted", "observed", "certain"),
                         [](const auto& info) { return info.param; });

TEST(Trainer, RefinesOnExplainedLabels) {
  const std::vector<std::string> settings{"refine.epochs=1", "refine.members=2", "train.epochs=1"};
  SmallTraining once(settings);
  Recorder recorder;
  EXPECT_TRUE(once.trainer->run(recorder));
  EXPECT_EQ(recorder.phases, (std::vector<std::string>{"q", "perception", "refine"}));
  EXPECT_GT(once.trainer->explained_labels()->gap, 0);
  EXPECT_NE(&once.trainer->perception(), &once.trainer->unrefined());
}

TEST(Trainer, QFollowsTheRefinedPerception) {
  const std::vector<std::string> settings{"refine.epochs=1", "train.epochs=1", "q.joint_lr=0.001"};
  auto following = settings;
  following.emplace_back("refine.q_steps=4");
  SmallTraining stays(settings), follows(following);
  Recorder recorder, ignored;
  EXPECT_TRUE(stays.trainer->run(ignored));
  EXPECT_TRUE(follows.trainer->run(recorder));
  EXPECT_EQ(recorder.phases, (std::vector<std::string>{"q", "perception", "refine", "follow"}));
  const auto perceptions = [](Trainer& trainer) { return module_tensors(trainer.perception(), ""); };
  EXPECT_TRUE(same(perceptions(*stays.trainer), perceptions(*follows.trainer)));
  EXPECT_FALSE(same(model_tensors(stays.trainer->model()), model_tensors(follows.trainer->model())));

  expect_resumes_bit_for_bit(following, {recorder.steps - 3, recorder.steps - 1});
  following.emplace_back("q.frozen=true");
  EXPECT_THROW(SmallTraining{following}, UsageError);
}

TEST(Trainer, TakesTheQOfAnotherRun) {
  TemporaryDirectory scratch;
  SmallTraining first;
  Recorder recorder, second_recorder;
  EXPECT_TRUE(first.trainer->run(recorder));
  save_model(scratch.path() / "run" / "model", first.configuration, *first.task.problem, first.trainer->perception(),
             first.trainer->model());
  const auto from = "q.from=" + (scratch.path() / "run").string();

  SmallTraining second({from, "q.frozen=true", "seed=9"});
  EXPECT_TRUE(second.trainer->run(second_recorder));
  EXPECT_EQ(second_recorder.phases, (std::vector<std::string>{"perception", "perception"}));
  EXPECT_TRUE(same(model_tensors(first.trainer->model()), model_tensors(second.trainer->model())));

  SmallTraining other({from, "q.architecture=transducer"});
  EXPECT_THROW(other.trainer->run(recorder), Error);
  SmallTraining missing({"q.from=" + (scratch.path() / "none").string()});
  EXPECT_THROW(missing.trainer->run(recorder), Error);
  EXPECT_THROW(SmallTraining({from, "loss=rloo"}), UsageError);
}

// Keeps perception's first weights as each start of the perception phase leaves them, and the gap of each start.
class StartsRecorder final : public TrainingObserver {
 public:
  explicit StartsRecorder(Trainer& trainer) : trainer_(trainer) {}
  void on_evaluation(const Progress& progress, const std::optional<Evaluation>&) override {
    if (progress.phase != "perception") return;
    EXPECT_EQ(progress.restarts, static_cast<std::int64_t>(weights.size()));
    weights.push_back(trainer_.unrefined().parameters()[0].detach().clone());
  }
  std::vector<torch::Tensor> weights;

 private:
  Trainer& trainer_;
};

// Starts hardly move at this learning rate, so what differs between them is where they began.
const std::vector<std::string> kImpatient{"refine.epochs=1", "train.epochs=1",           "q.frozen=true",
                                          "train.lr=1e-8",   "refine.restart_gap=0.001", "train.smoothing=0"};

TEST(Trainer, StartsAnewFromOtherWeightsAndTakesTheBestStart) {
  std::vector<double> gaps;
  std::vector<torch::Tensor> starts, taken;
  for (const char* restarts : {"0", "1", "2", "3"}) {
    auto settings = kImpatient;
    settings.push_back(std::string("refine.restarts=") + restarts);
    SmallTraining training(settings);
    StartsRecorder recorder(*training.trainer);
    EXPECT_TRUE(training.trainer->run(recorder));
    EXPECT_EQ(std::to_string(training.trainer->restarts()), restarts);
    gaps.push_back(training.trainer->explained_labels()->gap);
    starts = recorder.weights;
    taken.push_back(training.trainer->unrefined().parameters()[0].detach().clone());
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

TEST(Trainer, PerceptionDoesNotStartAnewThroughAQThatFollowedIt) {
  auto settings = kImpatient;
  settings.emplace_back("q.frozen=false");
  EXPECT_THROW(SmallTraining{settings}, UsageError);
}

TEST(Trainer, ResumesAfterARestartBitForBit) {
  auto settings = kImpatient;
  settings.emplace_back("refine.restarts=2");
  const auto per_start = SmallTraining(settings).trainer->steps_per_epoch();
  expect_resumes_bit_for_bit(settings, {5 + per_start + 2, 5 + 2 * per_start + 2, 5 + 3 * per_start + 2});
}

TEST(Trainer, AnEarlierStateForgetsALaterRefinement) {
  const std::vector<std::string> settings{"refine.epochs=1", "train.epochs=1"};
  SmallTraining training(settings);
  StopAfter stop(7);
  training.trainer->run(stop);
  const auto early = training.trainer->state();
  Recorder recorder;
  EXPECT_TRUE(training.trainer->run(recorder));
  const auto end = training.trainer->state();
  training.trainer->load_state(early);
  EXPECT_EQ(training.trainer->explained_labels(), nullptr);
  EXPECT_EQ(&training.trainer->perception(), &training.trainer->unrefined());
  EXPECT_TRUE(training.trainer->run(recorder));
  EXPECT_TRUE(same(end, training.trainer->state()));
}

TEST(Trainer, ResumesWithinRefinementBitForBit) {
  const std::vector<std::string> settings{"refine.epochs=2", "refine.members=2",    "train.epochs=1",
                                          "q.frozen=true",   "refine.augment=true", "refine.average=0.9"};
  const auto before = 5 + SmallTraining(settings).trainer->steps_per_epoch();  // of q and of perception
  expect_resumes_bit_for_bit(settings, {before + 1, before + 9, before + 20});
}

TEST(Trainer, PerceptionStaysAsItIsInFrozenEpochsWhileQLearns) {
  SmallTraining training({"train.frozen_epochs=1", "q.pretrain=0"});
  const auto weights = [&](torch::nn::Module& module) {
    std::vector<torch::Tensor> flat;
    for (const auto& parameter : module.parameters()) flat.push_back(parameter.detach().clone().flatten());
    return torch::cat(flat);
  };
  auto& q = *training.trainer->model().prediction;
  const auto perception_before = weights(training.trainer->perception()), q_before = weights(q);
  StopAfter within_the_first(training.trainer->steps_per_epoch() - 1);
  training.trainer->run(within_the_first);
  EXPECT_TRUE(torch::equal(weights(training.trainer->perception()), perception_before));
  EXPECT_FALSE(torch::equal(weights(q), q_before));
  Recorder recorder;
  training.trainer->run(recorder);
  EXPECT_FALSE(torch::equal(weights(training.trainer->perception()), perception_before));
}

TEST(Trainer, FrozenQStaysAsPretrained) {
  SmallTraining training({"q.frozen=true"});
  StopAfter after_q(5);
  training.trainer->run(after_q);
  std::vector<torch::Tensor> before;
  for (const auto& parameter : training.trainer->model().prediction->parameters())
    before.push_back(parameter.detach().clone());
  Recorder recorder;
  training.trainer->run(recorder);
  const auto after = training.trainer->model().prediction->parameters();
  for (std::size_t index = 0; index < before.size(); ++index) EXPECT_TRUE(torch::equal(before[index], after[index]));
}

TEST(Trainer, PerceptionsGradientLeavesQsWeightsAlone) {
  SmallTraining training;
  auto beliefs = training.trainer->perception().forward(training.data.train.batch(0, 8).inputs);
  training.trainer->amortized()->loss(beliefs, training.data.train.batch(0, 8).observations).backward();
  for (const auto& parameter : training.trainer->model().prediction->parameters())
    EXPECT_FALSE(parameter.grad().defined());
  for (const auto& parameter : training.trainer->perception().parameters()) EXPECT_TRUE(parameter.grad().defined());
}

TEST(Trainer, ABeliefThatIsNotANumberIsNamed) {
  SmallTraining training;
  const torch::NoGradGuard no_gradients;
  for (auto& parameter : training.trainer->perception().parameters()) parameter.fill_(NAN);
  try {
    const torch::AutoGradMode gradients(true);
    training.trainer->step(torch::arange(4, torch::kInt64));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "beliefs: example 0, variable 0: not a number");
  }
}

TEST(Trainer, StateIsACopy) {
  SmallTraining training;
  StopAfter stop(7);
  training.trainer->run(stop);
  const auto before = training.trainer->state();
  Recorder recorder;
  training.trainer->run(recorder);
  const auto after = training.trainer->state();
  EXPECT_FALSE(same(before, after));
  training.trainer->load_state(before);
  training.trainer->run(recorder);
  EXPECT_TRUE(same(training.trainer->state(), after));
}

TEST(Trainer, ValidationExamplesAreHeldOut) {
  SmallTraining training({"train.validation=true"});
  EXPECT_EQ(training.data.train.size(), (400 - 66) / 4);
  EXPECT_EQ(training.data.validation.size(), 66 / 4);
  const auto all = torch::cat({training.data.train.index.view(-1), training.data.validation.index.view(-1)});
  EXPECT_EQ(std::get<0>(torch::_unique(all)).numel(), all.numel()) << "a digit is used twice";
}

struct RunTest : testing::Test {
  TemporaryDirectory scratch;
  std::filesystem::path directory = scratch.path() / "run";

  static std::string message(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(RunTest, ConfigurationRoundTrips) {
  SmallTraining training;
  const auto run = anesi::Run::create(directory, training.configuration);
  EXPECT_EQ(run.configuration()->table().to_toml(), training.configuration.table().to_toml());
}

TEST_F(RunTest, ADirectoryHoldsOneRun) {
  SmallTraining training;
  {
    const auto run = anesi::Run::create(directory, training.configuration);
    EXPECT_NE(message([&] { anesi::Run::open(directory); }).find("another run is writing here"), std::string::npos);
  }
  EXPECT_NE(message([&] { anesi::Run::create(directory, training.configuration); }).find("holds a run already"),
            std::string::npos);
  EXPECT_NO_THROW(anesi::Run::open(directory));
}

TEST_F(RunTest, ACheckpointCutInHalfIsRefused) {
  SmallTraining training;
  const auto run = anesi::Run::create(directory, training.configuration);
  EXPECT_FALSE(run.load_checkpoint(*training.trainer));
  run.save_checkpoint(*training.trainer);
  const auto path = directory / "checkpoint" / "state.safetensors";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto what = message([&] { run.load_checkpoint(*training.trainer); });
  EXPECT_NE(what.find("state.safetensors"), std::string::npos) << what;
}

TEST_F(RunTest, SavedModelGivesTheSameAnswers) {
  SmallTraining training;
  Recorder recorder;
  training.trainer->run(recorder);
  save_model(directory, training.configuration, *training.task.problem, training.trainer->perception(),
             training.trainer->model());
  const auto saved = load_model(directory);
  const auto batch = training.data.test.batch(0, 5);
  const torch::NoGradGuard no_gradients;
  training.trainer->perception().eval();
  const auto beliefs = training.trainer->perception().forward(batch.inputs);
  EXPECT_TRUE(torch::equal(saved.beliefs(batch.inputs), beliefs));
  EXPECT_TRUE(torch::equal(saved.model.prediction->log_prob(beliefs, batch.observations.outputs),
                           training.trainer->model().prediction->log_prob(beliefs, batch.observations.outputs)));

  std::ofstream(directory / "weights.safetensors", std::ios::app) << "x";
  EXPECT_NE(message([&] { load_model(directory); }).find("weights.safetensors"), std::string::npos);
  EXPECT_NE(message([&] { load_model(scratch.path()); }).find("there is no saved model here"), std::string::npos);
}

TEST(ExpectedCalibrationError, IsTheGapBetweenConfidenceAndAccuracy) {
  const auto confidence = torch::tensor({0.9F, 0.9F, 0.9F, 0.9F, 0.1F, 0.1F});
  const auto right = torch::tensor({1, 1, 1, 0, 0, 0}).to(torch::kBool);
  // Four answers at 0.9 of which three are right, two at 0.1 of which none is.
  EXPECT_NEAR(expected_calibration_error(confidence, right), (4 * 0.15 + 2 * 0.1) / 6, 1e-6);
}

}  // namespace
}  // namespace anesi
