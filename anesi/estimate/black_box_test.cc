// A function that misbehaves: one clear error with the z that caused it, and everything as it was.
#include "anesi/estimate/black_box.h"

#include <gtest/gtest.h>

#include "anesi/estimate/estimator.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

using toys::message_of;

const Sources kBoth{.categoricals = {3, 3}, .normals = 1};

Draws three_draws() {
  return {torch::tensor({{0, 1}, {2, 0}, {1, 1}}, torch::kInt64),
          torch::tensor({{0.5}, {-1.25}, {2.0}}, torch::kFloat64)};
}

std::string complaint_of(Outcomes g, std::int64_t outcomes = 1) {
  return message_of([&] { BlackBox(std::move(g), outcomes)(three_draws()); });
}

TEST(BlackBox, NamesTheDraw) {
  const auto throws = [](const Draws& z) -> torch::Tensor {
    if (z.discrete.select(1, 0).eq(2).any().item<bool>()) throw std::runtime_error("no road\nthere");
    return z.real.squeeze(1);
  };
  EXPECT_TRUE(toys::names(complaint_of(throws), {"[2, 0 | -1.25]"}));
  EXPECT_TRUE(toys::names(complaint_of([](const Draws& z) { return z.real.squeeze(1).log(); }),
                          {"nan", "outcome 0", "[2, 0 | -1.25]"}));
  EXPECT_TRUE(toys::names(complaint_of([](const Draws& z) { return 1 / (z.discrete - 1).to(torch::kFloat64); }, 2),
                          {"inf", "outcome 1", "[0, 1 | 0.5]"}));
  EXPECT_TRUE(toys::names(complaint_of([](const Draws& z) { return z.real.squeeze(1).slice(0, 1); }),
                          {"(2)", "3", "[0, 1 | 0.5]", "(3, 1)"}));
  EXPECT_TRUE(toys::names(complaint_of([](const Draws&) { return torch::Tensor(); }), {"3", "[0, 1 | 0.5]"}));
  EXPECT_TRUE(
      toys::names(complaint_of([](const Draws& z) { return torch::complex(z.real, z.real); }), {"3", "[0, 1 | 0.5]"}));
}

TEST(BlackBox, TakesWholeNumbersAndTruth) {
  BlackBox counts([](const Draws& z) { return z.discrete.sum(1); }, 1);
  EXPECT_TRUE(counts(three_draws()).equal(torch::tensor({{1.0}, {2.0}, {2.0}}, torch::kFloat64)));
  EXPECT_EQ(counts.calls(), 3);
}

// What an estimator says after an error is what it says where there was none.
TEST(BlackBox, ErrorsLeaveEstimatorsAsTheyWere) {
  const Parameters parameters{uniform_beliefs(4, kBoth.categoricals), torch::zeros({4, 1}), torch::ones({4, 1})};
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {"anesi"}, {"anesi", "model=normal"}, {"anesi", "prior.kind=fitted"}, {"rloo"}}) {
    const auto value_after = [&](bool fails_once) {
      auto fails = std::make_shared<bool>(false);
      const auto g = std::make_shared<BlackBox>(
          [fails](const Draws& z) {
            if (*fails) throw std::runtime_error("not now");
            return z.discrete.sum(1) * z.real.squeeze(1);
          },
          1);
      const SeededWeights weights(1);
      const auto estimator = make_estimator(settings[0], {kBoth, g, seeded(3)}, {settings.begin() + 1, settings.end()});
      for (int step = 0; step < 3; ++step) estimator->learn(parameters);
      if (fails_once) {
        *fails = true;
        for (int attempt = 0; attempt < 2; ++attempt) {
          if (estimator->learns()) {
            EXPECT_THROW(estimator->learn(parameters), Error);
          } else {
            EXPECT_THROW(estimator->expectation(parameters), Error);
          }
        }
        *fails = false;
      }
      estimator->learn(parameters);
      return estimator->expectation(parameters).detach();
    };
    EXPECT_TRUE(value_after(true).equal(value_after(false))) << settings[0];
  }
}

TEST(BlackBox, ParametersAreChecked) {
  const auto g = std::make_shared<BlackBox>([](const Draws& z) { return z.real.squeeze(1); }, 1);
  const auto rloo = make_estimator("rloo", {kBoth, g, seeded(1)});
  const auto beliefs = uniform_beliefs(2, kBoth.categoricals), one = torch::ones({2, 1});
  const auto complaint = [&](const Parameters& parameters) {
    return message_of([&] { rloo->expectation(parameters); });
  };
  EXPECT_EQ(complaint({beliefs, one, one}), "no error");
  EXPECT_TRUE(toys::names(complaint({}), {"parameters"}));
  EXPECT_TRUE(toys::names(complaint({beliefs}), {"mean", "1"}));
  EXPECT_TRUE(toys::names(complaint({{}, one, one}), {"beliefs", "2"}));
  EXPECT_TRUE(toys::names(complaint({beliefs, one, 0 * one}), {"deviation", "example 0", "0"}));
  EXPECT_TRUE(toys::names(complaint({beliefs, one / 0, one}), {"mean", "example 0", "0"}));
  EXPECT_TRUE(toys::names(complaint({beliefs, torch::ones({2, 2}), one}), {"mean", "(2, 2)", "(2, 1)"}));
  EXPECT_TRUE(toys::names(complaint({2 * beliefs, one, one}), {"beliefs"}));
  EXPECT_TRUE(toys::names(message_of([&] { make_estimator("gumbel", {kBoth, g, seeded(1)}); }), {"gumbel"}));
  EXPECT_TRUE(toys::names(message_of([&] { make_estimator("magic", {kBoth, g, seeded(1)}); }), {"magic"}));
}

}  // namespace
}  // namespace anesi
