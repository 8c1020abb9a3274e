#include "anesi/run/run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "anesi/io/files.h"
#include "anesi/io/input_file.h"
#include "anesi/io/safetensors.h"
#include "anesi/perception/ensemble.h"
#include "anesi/run/load_run.h"
#include "anesi/tensors/arrays.h"
#include "anesi/testing/damaged_tensors.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random_seed.h"
#include "anesi/testing/small_training.h"

namespace anesi {
namespace {

using toys::message_of;
using toys::Recorder;
using toys::SmallTraining;

struct RunTest : testing::Test {
  TemporaryDirectory scratch;
  std::filesystem::path directory = scratch.path() / "run";
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
    EXPECT_TRUE(toys::names(message_of([&] { anesi::Run::open(directory); }),
                            {directory.string(), std::to_string(::getpid())}));
  }
  EXPECT_TRUE(toys::names(message_of([&] { anesi::Run::create(directory, training.configuration); }),
                          {directory.string(), "--resume", "--out"}));
  EXPECT_NO_THROW(anesi::Run::open(directory));
}

TEST_F(RunTest, ACheckpointCutInHalfIsRefused) {
  SmallTraining training;
  const auto run = anesi::Run::create(directory, training.configuration);
  EXPECT_FALSE(run.load_checkpoint(*training.training));
  run.save_checkpoint(*training.training);
  const auto path = directory / "checkpoint" / "state.safetensors";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto what = message_of([&] { run.load_checkpoint(*training.training); });
  EXPECT_TRUE(toys::names(what, {"state.safetensors"}));
}

TEST_F(RunTest, LogsEndWhereTheCheckpointStands) {
  SmallTraining training;
  const auto run = anesi::Run::create(directory, training.configuration);
  const auto lines = [&](const char* name) {
    const auto text = read_file(directory / name, kLargestText);
    return std::count(text.begin(), text.end(), '\n');
  };
  run.log(Progress{.phase = "q"}, std::nullopt);
  run.save_checkpoint(*training.training);
  run.log(Progress{.phase = "perception"}, std::nullopt);
  append_to_file(directory / "log.jsonl", "{\"phase\":");  // and then it was killed
  EXPECT_TRUE(run.load_checkpoint(*training.training));
  EXPECT_EQ(lines("log.jsonl"), 1);
  EXPECT_EQ(lines("log.csv"), 2);

  std::filesystem::remove_all(directory / "checkpoint");  // as one that was killed before the first
  EXPECT_FALSE(run.load_checkpoint(*training.training));
  run.log(Progress{.phase = "q"}, std::nullopt);
  EXPECT_EQ(lines("log.jsonl"), 1);
  EXPECT_EQ(lines("log.csv"), 2);
}

TEST_F(RunTest, WhatAKilledRunLeftIsRemoved) {
  SmallTraining training;
  anesi::Run::create(directory, training.configuration).save_checkpoint(*training.training);
  const auto half = directory / "checkpoint" / ".state.safetensors.4711-2";
  std::ofstream(half) << "half";
  anesi::Run::open(directory);
  EXPECT_FALSE(std::filesystem::exists(half));
  EXPECT_TRUE(std::filesystem::exists(directory / "checkpoint" / "state.safetensors"));
}

// Whatever the tensors of a checkpoint are, they are taken, or refused in a line that names the file.
TEST_F(RunTest, WhatARunLeftThatWasKilledAsItBeganIsRemoved) {
  SmallTraining training;
  std::filesystem::create_directory(directory);
  for (const char* name : {".config.toml.4711-0", ".notes.4711-0"}) std::ofstream(directory / name) << "half";
  const auto run = anesi::Run::create(directory, training.configuration);
  EXPECT_FALSE(std::filesystem::exists(directory / ".config.toml.4711-0"));
  EXPECT_TRUE(std::filesystem::exists(directory / ".notes.4711-0"));  // nothing of ours
}

TEST_F(RunTest, ADamagedCheckpointIsLoadedOrRefused) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  SmallTraining training;
  const auto run = anesi::Run::create(directory, training.configuration);
  toys::StopAfter some(8);
  training.trainer().run(some);
  run.save_checkpoint(*training.training);
  const auto path = directory / "checkpoint" / "state.safetensors";
  const auto intact = tensors_of(read_safetensors(path).arrays);
  int refused = 0;
  for (int time = 0; time < 150; ++time) {
    const auto [name, state] = toys::damaged(intact, random);
    SCOPED_TRACE(name);
    write_safetensors(path, arrays_of(state), {{"format", "anesi checkpoint"}});
    const auto what = message_of([&] { run.load_checkpoint(*training.training); });
    if (what == "no error") continue;
    ++refused;
    EXPECT_TRUE(what.starts_with(path.string() + ": ")) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    EXPECT_EQ(what.find("mistake in anesi"), std::string::npos) << what;
  }
  EXPECT_GT(refused, 50);
  write_safetensors(path, arrays_of(intact), {{"format", "anesi checkpoint"}});
  EXPECT_TRUE(run.load_checkpoint(*training.training));
}

TEST_F(RunTest, SavedModelGivesTheSameAnswers) {
  SmallTraining training;
  Recorder recorder;
  training.trainer().run(recorder);
  save_model(directory, training.training->predictor(), training.training->details());
  const auto saved = load_run(directory);
  const auto batch = training.data.test->batch(0, 5);
  const torch::NoGradGuard no_gradients;
  training.learner().current_perception()->eval();
  const auto beliefs = training.learner().current_perception()->forward(batch.inputs);
  EXPECT_TRUE(torch::equal(saved.predictor.beliefs(batch.inputs), beliefs));
  EXPECT_TRUE(torch::equal(saved.predictor.model().prediction->log_prob(beliefs, batch.observations.outputs),
                           training.learner().model.prediction->log_prob(beliefs, batch.observations.outputs)));

  std::ofstream(directory / "weights.safetensors", std::ios::app) << "x";
  EXPECT_TRUE(toys::names(message_of([&] { load_run(directory); }), {"weights.safetensors"}));
  EXPECT_TRUE(toys::names(message_of([&] { load_run(scratch.path()); }), {scratch.path().string()}));
}

TEST_F(RunTest, ACheckpointOfOtherDataIsRefused) {
  SmallTraining training, other({"train.validation=true"});
  const auto run = anesi::Run::create(directory, training.configuration);
  run.save_checkpoint(*training.training);
  const auto what = message_of([&] { run.load_checkpoint(*other.training); });
  EXPECT_TRUE(toys::names(what, {"data"}));
}

TEST_F(RunTest, ARefinedEnsembleIsLoadedAsItWasSaved) {
  SmallTraining training({"refine.epochs=1", "refine.members=2", "train.epochs=1", "refine.q_steps=2"});
  Recorder recorder;
  training.trainer().run(recorder);
  save_model(directory, training.training->predictor(), training.training->details());
  const auto saved = load_run(directory);
  EXPECT_EQ(members_of(saved.predictor.perception()), 2);
  const auto batch = training.data.test->batch(0, 5);
  const auto beliefs = training.training->predictor().beliefs(batch.inputs);
  EXPECT_TRUE(torch::equal(saved.predictor.beliefs(batch.inputs), beliefs));
  EXPECT_FALSE(torch::equal(training.training->unrefined_predictor().beliefs(batch.inputs), beliefs));
  EXPECT_EQ(saved.saved.data_fingerprint, fingerprint(training.data));
}

TEST_F(RunTest, AModelOfNoTaskIsLoadedWithItsProblemAlone) {
  SmallTraining training;
  training.training->predictor().save(directory);
  const auto what = message_of([&] { load_run(directory); });
  EXPECT_TRUE(toys::names(what, {directory.string(), "task"}));
  EXPECT_NO_THROW(load_predictor(directory, training.task.problem, training.task.make_perception));
}

TEST_F(RunTest, OptionsOfEarlierVersionsAreReadByTheirOldNames) {
  const auto configuration = Configuration::from_saved(
      "mnist-add", "a preset that is gone", {{"q.queries", "false"}, {"task.digits", "3"}, {"no.such.option", "1"}});
  EXPECT_FALSE(configuration->q.given);
  EXPECT_EQ(configuration->table().get("task.digits"), "3");
}

}  // namespace
}  // namespace anesi
