// Models on disk, for callers who bring their problem and their perception along.
#include "anesi/predict/saved_model.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "anesi/core/error.h"
#include "anesi/io/files.h"
#include "anesi/io/input_file.h"
#include "anesi/models/architecture.h"
#include "anesi/models/exact_model.h"
#include "anesi/perception/ensemble.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/testing/lookup.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

namespace fs = std::filesystem;

class SavedModels : public testing::Test {
 protected:
  SavedModels() {
    torch::manual_seed(5);
    parts_ = {.problem = problem_,
              .perception = std::make_shared<toys::Lookup>(3),
              .model = make_model(*problem_, "scan", /*explain=*/true, {"width=8"})};
  }

  Predictor load() const {
    return load_predictor(directory_, problem_, [] { return std::make_shared<toys::Lookup>(3); });
  }
  // What loading says, without the paths; it must be one line.
  std::string refusal(std::shared_ptr<const Problem> problem = nullptr, MakePerception make_perception = {}) const {
    if (!problem) problem = problem_;
    if (!make_perception) make_perception = [] { return std::make_shared<toys::Lookup>(3); };
    auto message = toys::message_of([&] { load_predictor(directory_, problem, make_perception); });
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    const auto where = directory_.string() + "/";
    if (message.starts_with(where)) message = message.substr(where.size());
    return message;
  }
  void change_manifest(const std::function<void(nlohmann::ordered_json&)>& change) const {
    const auto path = directory_ / "manifest.json";
    auto manifest = nlohmann::ordered_json::parse(read_file(path, kLargestText));
    change(manifest);
    write_file_atomically(path, manifest.dump());
  }
  // The weights are there but not those that were saved: whoever reads them complains of that.
  void spoil_weights() const {
    const auto path = directory_ / "weights.safetensors";
    auto bytes = read_file(path, kLargestText);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    write_file_atomically(path, bytes);
  }

  // That two predictors say the same, whatever they are asked.
  void expect_same(const Predictor& one, const Predictor& other) const {
    const auto inputs = points_of(Space::uniform(4, 3)).to(torch::kFloat32);
    const auto beliefs = one.beliefs(inputs);
    EXPECT_TRUE(torch::equal(beliefs, other.beliefs(inputs)));
    const auto first = one.predict(beliefs, 3), second = other.predict(beliefs, 3);
    EXPECT_TRUE(torch::equal(first.outputs, second.outputs));
    EXPECT_TRUE(torch::equal(first.probability, second.probability));
    const auto outputs = apply(*problem_, first.worlds);
    EXPECT_TRUE(torch::equal(one.marginals(beliefs, outputs), other.marginals(beliefs, outputs)));
    EXPECT_TRUE(torch::equal(one.sample(beliefs, outputs, 2, seeded(1)), other.sample(beliefs, outputs, 2, seeded(1))));
  }

  const std::shared_ptr<const Problem> problem_ = std::make_shared<toys::Addition>(2, /*base=*/3);
  Predictor::Parts parts_;
  const TemporaryDirectory scratch_;
  const fs::path directory_ = scratch_.path() / "model";
};

TEST_F(SavedModels, SayTheSameWithAProblemAndAPerceptionOfTheCallers) {
  parts_.options = {
      .beam = 7, .learned_threshold = 0.001, .decide = Decide::kNeural, .limits = {.nats = 12, .nodes = 34}};
  const Predictor saved(parts_);
  saved.save(directory_);
  const auto loaded = load();
  expect_same(saved, loaded);
  EXPECT_EQ(loaded.options().beam, 7);
  EXPECT_EQ(loaded.options().learned_threshold, 0.001);
  EXPECT_EQ(loaded.options().decide, Decide::kNeural);
  EXPECT_EQ(loaded.options().limits.nats, 12);
  EXPECT_EQ(loaded.options().limits.nodes, 34);
  EXPECT_FALSE(loaded.prunes_symbolically());
  EXPECT_TRUE(loaded.q_learned());
  for (const auto& parameter : loaded.model().prediction->parameters()) EXPECT_FALSE(parameter.requires_grad());
  // And once more: what was loaded can be saved.
  loaded.save(scratch_.path() / "again");
  EXPECT_EQ(read_file(scratch_.path() / "again" / "manifest.json", kLargestText),
            read_file(directory_ / "manifest.json", kLargestText));
  EXPECT_EQ(read_file(scratch_.path() / "again" / "weights.safetensors", kLargestText),
            read_file(directory_ / "weights.safetensors", kLargestText));
}

TEST_F(SavedModels, OfEveryArchitectureAreMadeAgain) {
  for (const std::string architecture : {"transducer", "scan", "mlp"}) {
    for (const bool explains : {false, true}) {
      SCOPED_TRACE(architecture + (explains ? ", explains" : ""));
      parts_.model = make_model(*problem_, architecture, explains);
      Predictor(parts_).save(directory_);
      expect_same(Predictor(parts_), load());
      EXPECT_EQ(load().model().explanation != nullptr, explains);
    }
  }
  parts_.model = make_exact_model(*problem_, {.method = "enumerate"});
  Predictor(parts_).save(directory_);
  expect_same(Predictor(parts_), load());
  EXPECT_EQ(read_saved_model(directory_).architecture, kExactArchitecture);
  EXPECT_EQ(read_saved_model(directory_).options.at("exact.method"), "enumerate");
}

TEST_F(SavedModels, RememberTheirPrunerAndTheirDecision) {
  parts_.prunes = true;
  parts_.q_learned = false;
  parts_.options.decide = Decide::kGap;
  parts_.options.limits.nats = 9;
  parts_.decision = Decision{.by = ScoredBy::kGap, .limits = parts_.options.limits, .slope = 0.1 + 0.2, .offset = -4.5};
  Predictor(parts_).save(directory_);
  const auto loaded = load();
  EXPECT_TRUE(loaded.prunes_symbolically());
  EXPECT_FALSE(loaded.q_learned());
  ASSERT_TRUE(loaded.decision().has_value());
  EXPECT_EQ(loaded.decision()->by, ScoredBy::kGap);
  EXPECT_EQ(loaded.decision()->limits.nats, 9);
  EXPECT_EQ(loaded.decision()->slope, 0.1 + 0.2);
  EXPECT_EQ(loaded.decision()->offset, -4.5);
  // A problem that lost its pruner predicts without it.
  Facts facts;
  facts.with(*problem_->facts().find<ReadingOrder>());
  const auto without =
      load_predictor(directory_, with_facts(problem_, facts), [] { return std::make_shared<toys::Lookup>(3); });
  EXPECT_FALSE(without.prunes_symbolically());
}

TEST_F(SavedModels, OfSeveralMembersAreAveragedAgain) {
  std::vector<std::shared_ptr<Perception>> members;
  for (int member = 0; member < 3; ++member) members.push_back(std::make_shared<toys::Lookup>(3));
  parts_.perception = std::make_shared<Ensemble>(members);
  Predictor(parts_).save(directory_);
  EXPECT_EQ(read_saved_model(directory_).members, 3);
  const auto loaded = load();
  EXPECT_EQ(members_of(loaded.perception()), 3);
  expect_same(Predictor(parts_), loaded);
  const auto inputs = torch::zeros({1, 4});
  EXPECT_TRUE(
      torch::allclose(loaded.beliefs(inputs),
                      (members[0]->forward(inputs) + members[1]->forward(inputs) + members[2]->forward(inputs)) / 3));
  // One that says another number of them is refused before the weights are read.
  spoil_weights();
  for (const int wrong : {1, 4}) {
    change_manifest([&](auto& manifest) { manifest["members"] = wrong; });
    const auto what = refusal();
    EXPECT_TRUE(toys::names(what, {"weights.safetensors"}));
  }
  change_manifest([](auto& manifest) { manifest["members"] = 0; });
  EXPECT_TRUE(toys::names(refusal(), {"manifest.json", "0"}));
  change_manifest([](auto& manifest) { manifest["members"] = 1000000000; });
  EXPECT_TRUE(toys::names(refusal(), {"manifest.json", "1000000000"}));
}

TEST_F(SavedModels, OfAnotherProblemAreRefusedBeforeWeightsAreRead) {
  Predictor(parts_).save(directory_);
  fs::remove(directory_ / "weights.safetensors");  // nobody looks for them
  EXPECT_TRUE(
      toys::names(refusal(std::make_shared<toys::Addition>(3, /*base=*/3)), {"manifest.json", "4", "3", "6", "4"}));
  EXPECT_TRUE(toys::names(refusal(std::make_shared<toys::Addition>(2, /*base=*/4)), {"manifest.json", "4", "3"}));
  // The same worlds, other outputs.
  const auto other =
      make_problem(problem_->worlds(), Space{2, 3, 2}, [](Values, MutableValues y) { y[0] = y[1] = y[2] = 0; });
  EXPECT_TRUE(toys::names(refusal(other), {"manifest.json", "4", "3"}));
}

TEST_F(SavedModels, OfOtherShapesAreRefusedBeforeWeightsAreRead) {
  Predictor(parts_).save(directory_);
  spoil_weights();
  EXPECT_TRUE(toys::names(refusal(), {"weights.safetensors", "manifest.json"}));
  // A manifest that lies about q, and a perception that is not the one that was trained.
  const auto lookup = refusal(nullptr, [] { return std::make_shared<toys::Lookup>(4); });
  EXPECT_TRUE(toys::names(lookup, {"weights.safetensors", "perception.logits"}));
  change_manifest([](auto& manifest) { manifest["options"]["scan.width"] = "16"; });
  const auto wider = refusal();
  EXPECT_TRUE(wider.starts_with("weights.safetensors: q.")) << wider;
  change_manifest([](auto& manifest) { manifest["architecture"] = "mlp"; });
  const auto other = refusal();
  EXPECT_TRUE(other.starts_with("weights.safetensors: q.")) << other;
}

// A kilobyte of manifest asked for gigabytes, and got them before anybody looked at the weights.
TEST_F(SavedModels, ThatAskForFarMoreThanTheirWeightsAreRefusedBeforeItIsBuilt) {
  Predictor(parts_).save(directory_);
  const auto megabytes = [] {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss / 1024;
  };
  const auto before = megabytes();
  change_manifest([](auto& manifest) {
    manifest["architecture"] = "mlp";
    manifest["options"]["mlp.width"] = "16384";
    manifest["options"]["mlp.layers"] = "16";
  });
  EXPECT_TRUE(toys::names(refusal(), {"manifest.json", "weights.safetensors"}));
  change_manifest([](auto& manifest) { manifest["options"]["mlp.width"] = "2048"; });
  EXPECT_TRUE(toys::names(refusal(), {"weights.safetensors"}));
  EXPECT_LT(megabytes() - before, 400);
}

TEST_F(SavedModels, ThatDoNotSayWhatTheyAreAreRefused) {
  Predictor(parts_).save(directory_);
  const auto good = read_file(directory_ / "manifest.json", kLargestText);
  fs::remove(directory_ / "weights.safetensors");
  const auto after = [&](const std::function<void(nlohmann::ordered_json&)>& change) {
    write_file_atomically(directory_ / "manifest.json", good);
    change_manifest(change);
    return refusal();
  };
  EXPECT_TRUE(toys::names(after([](auto& manifest) { manifest["format"] = 3; }), {"manifest.json", "3", "1", "2"}));
  EXPECT_TRUE(toys::names(after([](auto& manifest) { manifest.erase("format"); }), {"manifest.json", "format"}));
  const auto damaged = [&](const char* key) {
    const auto what = after([&](auto& manifest) { manifest.erase(key); });
    return what.starts_with("manifest.json: ");
  };
  for (const char* key : {"architecture", "options", "worlds", "outputs", "weights", "explains", "prunes", "members"}) {
    EXPECT_TRUE(damaged(key)) << key;
  }
  EXPECT_TRUE(toys::names(after([](auto& manifest) { manifest["architecture"] = "oracle"; }), {"oracle"}));
  write_file_atomically(directory_ / "manifest.json", "{");
  EXPECT_TRUE(toys::names(refusal(), {"manifest.json", "2"}));
  fs::remove_all(directory_);
  EXPECT_TRUE(toys::names(refusal(), {directory_.string()}));
}

TEST_F(SavedModels, PassOverOptionsThatNobodyKnowsAnyMore) {
  Predictor(parts_).save(directory_);
  change_manifest([](auto& manifest) { manifest["options"]["scan.of_an_earlier_version"] = "7"; });
  expect_same(Predictor(parts_), load());
}

TEST_F(SavedModels, OfAQThatWasPutTogetherByHandCannotBe) {
  parts_.model.architecture.clear();
  EXPECT_TRUE(toys::names(toys::message_of([&] { Predictor(parts_).save(directory_); }), {directory_.string(), "q"}));
  EXPECT_FALSE(fs::exists(directory_));
  EXPECT_TRUE(fs::is_empty(scratch_.path()));
}

TEST_F(SavedModels, TakeThePlaceOfAnEarlierOneAndOfNothingElse) {
  const Predictor first(parts_);
  first.save(directory_);
  torch::manual_seed(6);
  parts_.model = make_model(*problem_, "transducer", /*explain=*/true);
  const Predictor second(parts_);
  second.save(directory_);
  expect_same(second, load());
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch_.path()), fs::directory_iterator()), 1);

  const auto other = scratch_.path() / "letters";
  fs::create_directories(other);
  write_file_atomically(other / "to_a_friend", "Dear");
  EXPECT_TRUE(toys::names(toys::message_of([&] { second.save(other); }), {other.string()}));
  EXPECT_EQ(read_file(other / "to_a_friend", kLargestText), "Dear");
}

TEST_F(SavedModels, GiveTheirQToOthersOfItsArchitecture) {
  Predictor(parts_).save(directory_);
  const auto weights = load_q(directory_, "scan");
  EXPECT_EQ(std::ranges::count_if(weights, [](const auto& entry) { return entry.first.starts_with("q."); }),
            static_cast<std::ptrdiff_t>(parts_.model.prediction->parameters().size()));
  EXPECT_TRUE(toys::names(toys::message_of([&] { load_q(directory_, "mlp"); }), {"scan", "mlp"}));
}

// What the first format left to be concluded from the options of training.
TEST_F(SavedModels, OfTheFirstFormatAreRead) {
  const Predictor saved(parts_);
  save_model(directory_, saved, {.task = "sums", .options = {{"q.variant", "explain"}, {"loss", "amortized"}}});
  change_manifest([](auto& manifest) {
    manifest["format"] = 1;
    for (const char* key : {"explains", "prunes", "q_learned", "members"}) manifest.erase(key);
  });
  expect_same(saved, load());
  EXPECT_FALSE(load().prunes_symbolically());
  change_manifest([](auto& manifest) { manifest["options"]["q.variant"] = "prune"; });
  EXPECT_TRUE(load().prunes_symbolically());
  EXPECT_TRUE(load().q_learned());
  change_manifest([](auto& manifest) { manifest["options"]["loss"] = "rloo"; });
  EXPECT_FALSE(load().q_learned());
  change_manifest([](auto& manifest) {
    manifest["options"]["refine.epochs"] = "2";
    manifest["options"]["refine.members"] = "3";
  });
  EXPECT_EQ(read_saved_model(directory_).members, 3);
  change_manifest([](auto& manifest) { manifest["options"]["refine.members"] = "three"; });
  EXPECT_TRUE(toys::names(refusal(), {"manifest.json"}));
}

}  // namespace
}  // namespace anesi
