// What is said of an input, against sums over all worlds of a small problem.
#include "anesi/answers/answers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/core/asked_output.h"
#include "anesi/core/error.h"
#include "anesi/core/grid_walk.h"
#include "anesi/core/variable_pairs.h"
#include "anesi/models/exact_model.h"
#include "anesi/tensors/rows.h"
#include "anesi/testing/lookup.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

using Row = std::vector<std::int64_t>;

Predictor exact_predictor(const std::shared_ptr<const Problem>& problem, PredictorOptions options = {}) {
  // 0 and 1 are read right, 2 is taken for 1 more often than not.
  const auto perception =
      std::make_shared<toys::Lookup>(torch::tensor({{3.0, 0.5, 0.0}, {0.2, 2.0, 0.5}, {0.0, 1.4, 1.0}}));
  return Predictor({.problem = problem,
                    .perception = perception,
                    .model = make_exact_model(*problem, {.method = "enumerate"}),
                    .options = options});
}

// Sums of two digits in base three: 0 + 2 is read as 0 + 1.
class AnswersOfSums : public testing::Test {
 protected:
  const std::shared_ptr<const Problem> problem_ = std::make_shared<toys::Addition>(1, /*base=*/3);
  const Predictor predictor_ = exact_predictor(problem_);
  const Presentation presentation_;
  const Answers answers_{predictor_, presentation_, "sums"};
  const AskedInput input_ = answers_.input(torch::tensor({{0.0F, 2.0F}}));
};

TEST_F(AnswersOfSums, PredictionsAreThoseOfThePredictor) {
  const auto [json, text] = answers_.predict(input_, 3);
  EXPECT_EQ(json["task"], "sums");
  EXPECT_EQ(json["world"], Row({0, 1}));
  ASSERT_EQ(json["outputs"].size(), 3U);
  const auto predicted = predictor_.predict(input_.beliefs, 3);
  for (std::int64_t place = 0; place < 3; ++place) {
    const auto& output = json["outputs"][static_cast<std::size_t>(place)];
    EXPECT_EQ(output["output"], values_of(predicted.outputs[0][place]));
    EXPECT_DOUBLE_EQ(output["probability"], predicted.probability[0][place].item<double>());
  }
  EXPECT_FALSE(json.contains("label"));
  EXPECT_NE(text.find("read:\n0 1\n"), std::string::npos) << text;
}

TEST_F(AnswersOfSums, ALabelIsToldWhereItIsKnown) {
  const auto labelled = answers_.input(input_.inputs, Observations(torch::tensor({{0, 2}})));
  EXPECT_EQ(answers_.predict(labelled).json["label"], "0 2");
}

TEST_F(AnswersOfSums, WhatFollowsFromAKnownVariableAndOutput) {
  // The sum is 2 and the first digit is 0, so the second one is 2.
  const auto json = answers_.condition(input_, {.known = {{0, 0}}, .output = Row{0, 2}, .top = 3});
  ASSERT_EQ(json["beliefs"].size(), 2U);
  EXPECT_NEAR(json["beliefs"][1][2].get<double>(), 1, 1e-6);
  const auto believed = input_.beliefs[0];
  EXPECT_NEAR(json["log_prob"].get<double>(), std::log((believed[0][0] * believed[1][2]).item<double>()), 1e-5);
  EXPECT_EQ(json["explanation"]["explanations"][0]["world"], Row({0, 2}));
  EXPECT_NEAR(json["explanation"]["explanations"][0]["probability"].get<double>(), 1, 1e-6);
  EXPECT_EQ(json["prediction"]["outputs"][0]["output"], Row({0, 2}));
}

TEST_F(AnswersOfSums, WhatFollowsFromAVariableAlone) {
  const auto json = answers_.condition(input_, {.known = {{1, 2}}, .top = 9});
  // 2 is known, so the sum is as likely as the first digit.
  EXPECT_EQ(json["prediction"]["outputs"][0]["output"], Row({0, 2}));
  EXPECT_NEAR(json["prediction"]["outputs"][0]["probability"].get<double>(), input_.beliefs[0][0][0].item<double>(),
              1e-5);
  EXPECT_EQ(json["prediction"]["beliefs"][1], std::vector<double>({0, 0, 1}));
}

TEST_F(AnswersOfSums, RolloutsTellWhatWasOnOffer) {
  const auto steps = answers_.rollout(input_, {.output = "0 2"})["steps"];
  ASSERT_EQ(steps.size(), 4U);  // two output variables, then two world variables
  EXPECT_EQ(steps[0]["output"], true);
  EXPECT_EQ(steps[2]["name"], "variable 1");
  double total = 0;
  for (const auto& share : steps[2]["probabilities"]) total += share.get<double>();
  EXPECT_NEAR(total, 1, 1e-5);
  EXPECT_EQ(steps[2]["values"].size(), 3U);
}

TEST_F(AnswersOfSums, BeliefsAreThoseOfTheWorldsThatExplain) {
  // 2 + 2 alone gives 11 in base three, however unlikely it is.
  const auto json = answers_.condition(input_, {.output = Row{1, 1}, .top = 3});
  for (const auto variable : {0, 1}) EXPECT_NEAR(json["beliefs"][variable][2].get<double>(), 1, 1e-9);
}

TEST_F(AnswersOfSums, WhatContradictsItselfHasNoAnswer) {
  const ConditionQuestion question{.known = {{0, 0}}, .output = Row{1, 1}};
  for (const auto& message : {toys::message_of([&] { answers_.condition(input_, question); }),
                              toys::message_of([&] { answers_.rollout(input_, question); })}) {
    EXPECT_TRUE(toys::names(message, {"world"}));
  }
}

// Outputs may be named as they are shown.
TEST_F(AnswersOfSums, OutputsAreFoundByTheirText) {
  class Spoken final : public Presentation {
    std::string output(Values output) const override { return output[0] == 1 && output[1] == 0 ? "three" : "other"; }
  };
  const Spoken spoken;
  const Answers answers(predictor_, spoken, "sums");
  EXPECT_EQ(answers.explain(input_, {.output = "three"}).output, Row({1, 0}));
}

TEST_F(AnswersOfSums, NonsenseIsRefused) {
  const auto refused = [&](const ConditionQuestion& question) {
    return toys::message_of([&] { answers_.condition(input_, question); });
  };
  EXPECT_TRUE(toys::names(refused({.known = {{2, 0}}}), {"variable 2", "2"}));
  EXPECT_TRUE(toys::names(refused({.known = {{-1, 0}}}), {"variable -1", "2"}));
  EXPECT_TRUE(toys::names(refused({.known = {{0, 3}}}), {"variable 1", "3", "0", "2"}));
  EXPECT_NE(refused({.output = Row{0, 7}}), "no error");
  EXPECT_NE(refused({.output = Row{0}}), "no error");
  EXPECT_NE(refused({.output = "many"}), "no error");
}

TEST_F(AnswersOfSums, ExamplesAreJudgedByTheirLabels) {
  // The second one's digit is misread.
  const auto examples = tensor_examples(torch::tensor({{0.0F, 1.0F}, {0.0F, 2.0F}}), torch::tensor({{0, 1}, {0, 2}}));
  const auto judged = answers_.judge(*examples, 0, 2);
  ASSERT_EQ(judged.size(), 2U);
  EXPECT_EQ(judged[0].right, true);
  EXPECT_EQ(judged[1].right, false);
  EXPECT_EQ(judged[1].label, "0 2");
  EXPECT_EQ(judged[1].predicted, "0 1");
  EXPECT_EQ(judged[1].read, Row({0, 1}));
  EXPECT_FALSE(judged[1].gap);
}

// Do two variables differ? Labels say whether they do.
TEST(AnswersOfAPair, ConflictsAreNamedByVariables) {
  const auto plain = make_problem(Space{3, 3}, Space{2},
                                  [](Values world, MutableValues output) { output[0] = world[0] != world[1] ? 1 : 0; });
  const auto problem = with(with(plain, VariablePairs{{{0, 1}}}), AskedOutput{{1}});
  const auto predictor = exact_predictor(problem);
  const Presentation presentation;
  const Answers answers(predictor, presentation, "pair");
  const auto input = answers.input(torch::tensor({{1.0F, 1.0F}}));
  const auto explained = answers.explain(input, {.output = Row{1}});
  const auto json = answers.explanation_json(input, explained);
  EXPECT_EQ(json["read_output"], Row({0}));
  ASSERT_EQ(json["conflicts"].size(), 1U);
  EXPECT_EQ(json["conflicts"][0], Row({0, 1}));
  EXPECT_EQ(json["output_values"], Row({1}));
}

// Outputs that are walks are told as cells too.
TEST(AnswersOfAWalk, PathsAreCells) {
  const GridWalk walk{.side = 2, .start = 0, .goal = 3};
  const auto plain =
      make_problem(Space::uniform(4, 3), Space::uniform(2, kDirections), [](Values world, MutableValues output) {
        output[0] = world[1] == 0 ? 4 : 7;                    // E, or SE and there
        output[1] = world[1] == 0 ? std::int64_t{6} : kNone;  // S
      });
  const auto predictor = exact_predictor(with(plain, walk));
  const Presentation presentation;
  const Answers answers(predictor, presentation, "walk");
  const auto input = answers.input(torch::tensor({{0.0F, 0.0F, 1.0F, 1.0F}}), Observations(torch::tensor({{7, -1}})));
  const auto json = answers.explanation_json(input, answers.explain(input, {.output = Row{4, 6}}));
  EXPECT_EQ(json["path"], Row({0, 1, 3}));
  EXPECT_EQ(json["read_path"], Row({0, 1, 3}));
  EXPECT_EQ(json["label_path"], Row({0, 3}));
}

}  // namespace
}  // namespace anesi
