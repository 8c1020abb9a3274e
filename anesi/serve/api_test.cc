#include "anesi/serve/api.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <future>
#include <set>

#include "anesi/io/files.h"
#include "anesi/io/lock_state.h"
#include "anesi/run/run.h"
#include "anesi/testing/small_training.h"

namespace anesi::serve {
namespace {

namespace fs = std::filesystem;

// A run of light-curtain, which makes its own data, trained hardly at all.
struct ServedRunTest : testing::Test {
  ServedRunTest() : configuration("light-curtain") {
    for (const auto* const setting : {"task.beams=5", "task.examples=40", "q.architecture=mlp", "mlp.layers=1",
                                      "mlp.width=8", "q.pretrain=2", "train.epochs=1", "train.batch=16"}) {
      configuration.table().set(setting);
    }
    task = configuration.make_task({});
    training = std::make_unique<Training>(configuration, task, task.load());
    run.emplace(anesi::Run::create(directory, configuration));
  }

  void save_model() const { anesi::save_model(run->model(), training->predictor(), training->details()); }

  // Waits until there is such a model.
  static std::shared_ptr<const ServedModel> model_numbered(const ServedRun& served, std::int64_t number) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < end) {
      if (auto model = served.model(); model && model->number() >= number) return model;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return nullptr;
  }

  std::set<std::string> files() const {
    std::set<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) found.insert(entry.path().string());
    return found;
  }

  TemporaryDirectory scratch;
  fs::path directory = scratch.path() / "curtain";
  Configuration configuration;
  Task task;
  std::unique_ptr<Training> training;
  std::optional<anesi::Run> run;
};

TEST_F(ServedRunTest, IsThereBeforeItsModel) {
  const ServedRun served(directory, {});
  EXPECT_EQ(served.model(), nullptr);
  EXPECT_EQ(served.state(), "training");
  EXPECT_EQ(served.task(), "light-curtain");
  EXPECT_EQ(served.name(), "curtain");
}

TEST_F(ServedRunTest, FollowsCheckpointsAndWritesNothing) {
  const ServedRun served(directory, {});
  run->save_checkpoint(*training);
  const auto before = files();
  const auto first = model_numbered(served, 1);
  ASSERT_NE(first, nullptr);
  const auto inputs = training->data().test->batch(0, 10).inputs;
  EXPECT_TRUE(torch::equal(first->predictor().beliefs(inputs), training->predictor().beliefs(inputs)));
  toys::Recorder recorder;
  ASSERT_TRUE(training->trainer().run(recorder));
  run->save_checkpoint(*training);
  const auto second = model_numbered(served, 2);
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(torch::equal(second->predictor().beliefs(inputs), training->predictor().beliefs(inputs)));
  EXPECT_FALSE(torch::equal(second->predictor().beliefs(inputs), first->predictor().beliefs(inputs)));
  EXPECT_EQ(files(), before);
  save_model();
  EXPECT_NE(model_numbered(served, 3), nullptr);
  run.reset();
  EXPECT_EQ(served.state(), "finished");
}

TEST_F(ServedRunTest, PassesOverADamagedCheckpoint) {
  save_model();
  const ServedRun served(directory, {});
  ASSERT_NE(served.model(), nullptr);
  make_directories(directory / "checkpoint");
  write_file_atomically(directory / "checkpoint" / "state.safetensors", "nothing");
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_EQ(served.model()->number(), 1);
}

TEST_F(ServedRunTest, ReadsWholeLinesOfTheLog) {
  append_to_file(directory / "log.jsonl", "{\"phase\": \"q\"}\nno JSON\n{\"phase\": \"perc");
  const ServedRun served(directory, {});
  const auto log = served.log();
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0]["phase"], "q");
  EXPECT_TRUE(log[1].is_null());
}

TEST_F(ServedRunTest, KnowsWhetherSomebodyTrains) {
  EXPECT_TRUE(is_locked(directory));
  run.reset();
  EXPECT_FALSE(is_locked(directory));
  EXPECT_FALSE(is_locked(scratch.path()));
}

struct ApiTest : ServedRunTest {
  ApiTest() {
    save_model();
    served.emplace(directory, TaskContext{});
    api.emplace(*served, threads);
  }

  HttpAnswer ask(const std::string& target, const std::string& body = "") const {
    return api->answer({.method = body.empty() ? "GET" : "POST", .target = target, .headers = {}, .body = body});
  }
  nlohmann::json json(const std::string& target, const std::string& body = "") const {
    const auto answer = ask(target, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return nlohmann::json::parse(answer.body);
  }

  ComputeThreads threads{2};
  std::optional<ServedRun> served;
  std::optional<Api> api;
};

TEST_F(ApiTest, TellsTheRun) {
  const auto told = json("/api/run");
  EXPECT_EQ(told["name"], "curtain");
  EXPECT_EQ(told["model"], 1);
  EXPECT_EQ(told["worlds"]["count"], 5);
  EXPECT_EQ(told["outputs"]["domains"], nlohmann::json::array({6, 6}));
  EXPECT_EQ(told["input"]["kind"], "numbers");
  EXPECT_EQ(told["input"]["names"].size(), told["input"]["count"].get<std::size_t>());
  EXPECT_TRUE(told["result"].is_null());
  EXPECT_EQ(json("/api/swatches")["values"], nullptr);
}

TEST_F(ApiTest, AnswersAsTheLibraryDoes) {
  const auto& model = *served->model();
  const auto input = model.answers().example(*model.data().test, 3);
  const auto predicted = json("/api/predict", R"({"input": {"index": 3}, "top": 2})");
  const auto wanted = model.answers().predict(input, 2).json;
  for (const auto& [key, value] : wanted.items()) EXPECT_EQ(predicted[key], nlohmann::json(value)) << key;
  EXPECT_EQ(predicted["beliefs"].size(), 5U);
  const auto explained = json("/api/explain", R"({"input": {"index": 3}, "output": [1, 2]})");
  EXPECT_EQ(explained["output_values"], nlohmann::json::array({1, 2}));
  const auto conditioned = json("/api/condition", R"({"input": {"index": 3}, "known": {"2": 1}})");
  EXPECT_EQ(conditioned["beliefs"][2], nlohmann::json::array({0.0, 1.0}));
}

TEST_F(ApiTest, TakesChangedNumbers) {
  const auto shown = json("/api/input?index=0");
  const auto count = shown["numbers"].size();
  EXPECT_EQ(json("/api/predict", R"({"input": {"index": 0, "numbers": {}}})"),
            json("/api/predict", R"({"input": {"index": 0}})"));
  const auto changed = json("/api/predict", R"({"input": {"index": 0, "numbers": {"0": 12.5}}})");
  EXPECT_FALSE(changed.contains("label"));
  EXPECT_NE(changed["beliefs"], json("/api/predict", R"({"input": {"index": 0}})")["beliefs"]);
  EXPECT_EQ(
      ask("/api/predict", R"({"input": {"index": 0, "numbers": {")" + std::to_string(count) + R"(": 1}}})").status,
      400);
  EXPECT_EQ(ask("/api/predict", R"({"input": {"index": 0, "parts": {"0": "YWI="}}})").status, 400);
}

TEST_F(ApiTest, RefusesWhatThisRunDoesNotHave) {
  EXPECT_EQ(ask("/api/input?index=1000000").status, 400);
  EXPECT_EQ(ask("/api/input?split=validation&index=0").status, 400);
  EXPECT_EQ(ask("/api/explain", R"({"input": {"index": 0}, "output": [9, 9]})").status, 400);
  EXPECT_EQ(ask("/api/explain", R"({"input": {"index": 0}, "output": [1]})").status, 400);
  EXPECT_EQ(ask("/api/condition", R"({"input": {"index": 0}, "known": {"5": 0}})").status, 400);
  EXPECT_EQ(ask("/api/condition", R"({"input": {"index": 0}, "known": {"0": 2}})").status, 400);
  EXPECT_EQ(ask("/nothing.html").status, 404);
}

TEST_F(ApiTest, LooksAtExamplesInTheBackground) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  nlohmann::json rows;
  do {
    rows = json("/api/examples?count=200");
  } while (rows["looked_at"] != rows["of"] && std::chrono::steady_clock::now() < end);
  EXPECT_EQ(rows["of"], served->model()->data().test->size());
  EXPECT_EQ(rows["total"], rows["of"]);
  EXPECT_EQ(rows["rows"][4]["index"], 4);
}

TEST_F(ApiTest, ServesThePage) {
  const auto page = ask("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_TRUE(page.type.starts_with("text/html"));
  std::ofstream(scratch.path() / "page.css") << "mine";
  const Api mine(*served, threads, scratch.path());
  EXPECT_EQ(mine.answer({.method = "GET", .target = "/page.css", .headers = {}, .body = ""}).body, "mine");
  EXPECT_EQ(mine.answer({.method = "GET", .target = "/", .headers = {}, .body = ""}).status, 404);
}

TEST(ComputeThreads, RefuseWhenTooManyWait) {
  ComputeThreads threads(1, /*most_waiting=*/1, std::chrono::milliseconds(50));
  std::promise<void> begun, release;
  std::thread first([&] {
    threads.run([&] {
      begun.set_value();
      release.get_future().wait();
    });
  });
  begun.get_future().wait();
  EXPECT_THROW(threads.run([] {}), Refusal);
  release.set_value();
  first.join();
  int done = 0;
  threads.run([&] { ++done; });
  EXPECT_EQ(done, 1);
  EXPECT_THROW(threads.run([] { throw Error("no"); }), Error);
}

}  // namespace
}  // namespace anesi::serve
