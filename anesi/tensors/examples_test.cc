#include "anesi/tensors/examples.h"

#include <gtest/gtest.h>

#include "anesi/core/space.h"

namespace anesi {
namespace {

// Four examples of two variables, whose inputs are two numbers for each.
torch::Tensor numbers() { return torch::arange(16, torch::kFloat32).view({4, 2, 2}); }

std::shared_ptr<const Examples> four(const torch::Tensor& inputs = numbers()) {
  Observations labels(torch::tensor({{1}, {2}, {3}, {4}}), torch::tensor({true, true, false, true}));
  labels.worlds = torch::tensor({{0, 1}, {1, 0}, {1, 1}, {0, 0}});
  return tensor_examples(inputs, labels, torch::tensor({{0, 1}, {1, 0}, {1, 1}, {0, 0}}));
}

TEST(TensorExamples, BatchesHoldTheRowsAskedFor) {
  const auto examples = four();
  EXPECT_EQ(examples->size(), 4);
  EXPECT_TRUE(examples->has_worlds());
  const auto rows = torch::tensor({3, 1});
  const auto batch = examples->batch(rows);
  EXPECT_TRUE(torch::equal(batch.inputs, numbers().index_select(0, rows)));
  EXPECT_TRUE(torch::equal(batch.observations.outputs, torch::tensor({{4}, {2}})));
  EXPECT_TRUE(torch::equal(batch.observations.holds, torch::tensor({true, true})));
  EXPECT_TRUE(torch::equal(batch.observations.worlds, torch::tensor({{0, 0}, {1, 0}})));
  EXPECT_TRUE(torch::equal(batch.worlds, torch::tensor({{0, 0}, {1, 0}})));
  EXPECT_TRUE(torch::equal(examples->batch(1, 3).inputs, numbers().slice(0, 1, 3)));
  EXPECT_EQ(examples->batch(2, 2).inputs.size(0), 0);
}

TEST(TensorExamples, AreNotRequiredToHaveWorlds) {
  const auto examples = tensor_examples(numbers(), torch::tensor({{1}, {2}, {3}, {4}}));
  EXPECT_FALSE(examples->has_worlds());
  EXPECT_FALSE(examples->batch(0, 2).worlds.defined());
  EXPECT_FALSE(examples->batch(0, 2).observations.holds.defined());
}

TEST(TensorExamples, AVariablesPartOfTheInputIsItsPlaceInTheSecondDimension) {
  const auto rows = torch::tensor({3, 0, 3}), variables = torch::tensor({1, 0, 0});
  const auto parts = four()->inputs_of(rows, variables);
  ASSERT_EQ(parts.sizes(), (torch::IntArrayRef{3, 1, 2}));
  for (std::int64_t place = 0; place < 3; ++place) {
    EXPECT_TRUE(torch::equal(parts[place][0],
                             numbers()[rows[place].item<std::int64_t>()][variables[place].item<std::int64_t>()]));
  }
  const auto flat = tensor_examples(numbers().select(2, 0), torch::tensor({{1}, {2}, {3}, {4}}));
  EXPECT_TRUE(
      torch::equal(flat->inputs_of(rows, variables), numbers().select(2, 0).index({rows, variables}).unsqueeze(1)));
}

TEST(TensorExamples, RefuseAnotherNumberOfLabels) {
  EXPECT_THROW(tensor_examples(numbers(), torch::tensor({{1}, {2}, {3}})), c10::Error);
}

TEST(Fingerprint, DiffersWhereDataDiffer) {
  const auto of = [](std::shared_ptr<const Examples> train, std::shared_ptr<const Examples> validation = nullptr) {
    return fingerprint({.train = std::move(train), .validation = std::move(validation), .test = four()});
  };
  const auto own = of(four());
  EXPECT_EQ(own, of(four(numbers().clone()))) << "the same data elsewhere in memory";
  EXPECT_NE(own, of(four(), four())) << "a split more";

  auto nudged = numbers().clone();
  nudged[2][1][0] = std::nextafter(nudged[2][1][0].item<float>(), 100.0F);
  EXPECT_NE(own, of(four(nudged))) << "one input by one bit";
  EXPECT_NE(own, of(four(numbers().flip(0)))) << "examples in another order";
  const auto small = torch::full({4, 2, 2}, 0.25F);
  EXPECT_NE(of(four(small)), of(four(small * 2))) << "inputs that are no whole numbers";

  const auto with_labels = [&](const std::function<void(Observations&)>& change) {
    auto labels = four()->labels();
    change(labels);
    return of(tensor_examples(numbers(), labels));
  };
  const auto same = with_labels([](Observations&) {});
  EXPECT_EQ(own, same) << "the true worlds are for scoring alone";
  EXPECT_NE(own, with_labels([](Observations& labels) { labels.outputs = labels.outputs.flip(0); }));
  EXPECT_NE(own, with_labels([](Observations& labels) { labels.holds = labels.holds.logical_not(); }));
  EXPECT_NE(own, with_labels([](Observations& labels) { labels.worlds = torch::full({4, 2}, kUnset, torch::kInt64); }));
}

TEST(Splits, WhatIsHeldOutIsValidationDataWhereThereAreSuch) {
  const auto train = four(), validation = four();
  EXPECT_EQ(&(Splits{.train = train, .validation = nullptr, .test = nullptr}.held_out()), train.get());
  EXPECT_EQ(&(Splits{.train = train, .validation = validation, .test = nullptr}.held_out()), validation.get());
}

TEST(Checksum, ChangesWhereValuesChangePlaces) {
  EXPECT_NE(checksum(torch::tensor({1, 2, 3})), checksum(torch::tensor({1, 3, 2})));
  EXPECT_EQ(checksum(torch::tensor({1, 2, 3})), checksum(torch::tensor({{1, 2, 3}})));
}

}  // namespace
}  // namespace anesi
