// Every estimator against the exact gradient, by enumeration or in closed form.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "anesi/estimate/estimator.h"
#include "anesi/estimate/learned.h"
#include "anesi/tensors/rows.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random.h"

namespace anesi {
namespace {

using toys::message_of;

// Two outcomes of three variables with different domains.
torch::Tensor two_outcomes(const Draws& z) {
  const auto w = z.discrete.to(torch::kFloat64);
  const auto first = w.select(1, 0) * w.select(1, 1) - 2 * w.select(1, 2) + 10;
  return torch::stack({first, w.sum(1).square()}, 1);
}
const Space kSpace{2, 3, 4};
const Sources kSources{.categoricals = kSpace};
const Sources kTwoNormals{.normals = 2};

std::shared_ptr<BlackBox> two_outcome_box() { return std::make_shared<BlackBox>(two_outcomes, 2); }

// E[g] by going through all worlds, differentiable.
torch::Tensor enumerated(const torch::Tensor& beliefs) {
  const auto points = points_of(kSpace);
  const auto outcomes = two_outcomes({points, torch::zeros({points.size(0), 0}, torch::kFloat64)});
  auto shares = torch::ones({beliefs.size(0), points.size(0)}, torch::kFloat64);
  for (std::int64_t variable = 0; variable < kSpace.variables(); ++variable) {
    shares = shares * beliefs.select(1, variable).index_select(1, points.select(1, variable));
  }
  return shares.mm(outcomes);
}

// By the logits of beliefs, whose gradients do not depend on how beliefs are normalised.
torch::Tensor gradient_by_logits(const torch::Tensor& logits,
                                 const std::function<torch::Tensor(const torch::Tensor&)>& expectation) {
  const auto at = logits.detach().clone().requires_grad_(true);
  const auto mask = uniform_beliefs(1, kSpace).eq(0);
  const auto beliefs = at.masked_fill(mask, -std::numeric_limits<double>::infinity()).softmax(2);
  const auto weights = torch::tensor({1.0, 0.3}, torch::kFloat64);
  return torch::autograd::grad({(expectation(beliefs) * weights).sum()}, {at})[0];
}

TEST(Estimators, ExactIsEnumeration) {
  const toys::RandomSeed seed;
  const auto logits = torch::randn({5, 3, 4}, seeded(seed), torch::kFloat64);
  const auto box = two_outcome_box();
  const auto exact = make_estimator("exact", {kSources, box, seeded(1)});
  const auto ours = gradient_by_logits(logits, [&](const auto& beliefs) { return exact->expectation({beliefs}); });
  EXPECT_TRUE(torch::allclose(ours, gradient_by_logits(logits, enumerated), 1e-9, 1e-12));
  EXPECT_EQ(box->calls(), 24);
  EXPECT_TRUE(toys::names(message_of([&] {
                            make_estimator("exact", {kSources, box, seeded(1)}, {"points=23"});
                          }),
                          {"24"}));
}

class Unbiased : public testing::TestWithParam<std::string> {};

TEST_P(Unbiased, InTheMean) {
  const auto generator = seeded(7);
  const auto logits = torch::randn({1, 3, 4}, generator, torch::kFloat64);
  const auto truth = gradient_by_logits(logits, enumerated);
  const auto estimator = make_estimator(GetParam(), {kSources, two_outcome_box(), generator}, {"samples=50"});
  std::vector<torch::Tensor> gradients;
  for (int repeat = 0; repeat < 400; ++repeat) {
    gradients.push_back(
        gradient_by_logits(logits, [&](const auto& beliefs) { return estimator->expectation({beliefs}); }));
  }
  const auto all = torch::stack(gradients);
  const auto error = all.std(0) / 20.0;  // of the mean of 400
  EXPECT_TRUE(((all.mean(0) - truth).abs() <= 4.5 * error + 1e-9).all().item<bool>()) << all.mean(0) << truth;
}
INSTANTIATE_TEST_SUITE_P(Estimators, Unbiased, testing::Values("reinforce", "rloo", "indecater"));

TEST(Estimators, BaselinesAndSumsLowerTheVariance) {
  const auto generator = seeded(3);
  const auto logits = torch::randn({1, 3, 4}, generator, torch::kFloat64);
  const auto variance = [&](const std::string& name, const std::string& setting) {
    const auto estimator = make_estimator(name, {kSources, two_outcome_box(), generator}, {setting});
    std::vector<torch::Tensor> gradients;
    for (int repeat = 0; repeat < 200; ++repeat) {
      gradients.push_back(
          gradient_by_logits(logits, [&](const auto& beliefs) { return estimator->expectation({beliefs}); }));
    }
    return torch::stack(gradients).var(0).sum().item<double>();
  };
  const auto plain = variance("reinforce", "samples=7"), left_out = variance("rloo", "samples=7");
  const auto summed = variance("indecater", "samples=1");  // 7 calls too
  EXPECT_LT(left_out, plain);
  EXPECT_LT(summed, left_out);
}

TEST(Estimators, StraightThroughIsExactForALinearFunctionInTheLimit) {
  // Of one variable alone the differences are all there is to g; at a high number of draws the softmax at temperature 1
  // has the right sign of every derivative.
  const Sources sources{.categoricals = {3}};
  const auto g = std::make_shared<BlackBox>([](const Draws& z) { return z.discrete.select(1, 0).eq(2); }, 1);
  const auto estimator = make_estimator("gumbel", {sources, g, seeded(5)}, {"samples=4000"});
  const auto logits = torch::zeros({1, 1, 3}, torch::kFloat64).requires_grad_(true);
  const auto value = estimator->expectation({logits.softmax(2)});
  EXPECT_NEAR(value.item<double>(), 1.0 / 3, 0.05);
  const auto slope = torch::autograd::grad({value.sum()}, {logits})[0].view(-1);
  EXPECT_GT(slope[2].item<double>(), 0.1);
  EXPECT_LT(slope[0].item<double>(), -0.03);
  EXPECT_LT(slope[1].item<double>(), -0.03);
}

TEST(Estimators, ReparameterisedOfASquare) {
  // E[z^2] = mean^2 + deviation^2.
  const auto mean = torch::tensor({{0.5, -1.0}}, torch::kFloat64).requires_grad_(true);
  const auto deviation = torch::tensor({{0.3, 2.0}}, torch::kFloat64).requires_grad_(true);
  for (const std::string setting : {"difference=0", "difference=0.01"}) {
    const auto g = std::make_shared<BlackBox>([](const Draws& z) { return z.real.square().sum(1); }, 1);
    const auto estimator = make_estimator("reparameterised", {kTwoNormals, g, seeded(1)}, {"samples=20000", setting});
    const auto value = estimator->expectation({{}, mean, deviation});
    EXPECT_NEAR(value.item<double>(), 0.25 + 1 + 0.09 + 4, 0.3);
    const auto slopes = torch::autograd::grad({value.sum()}, {mean, deviation});
    EXPECT_TRUE(torch::allclose(slopes[0], 2 * mean, 0.1, 0.1)) << setting << slopes[0];
    EXPECT_TRUE(torch::allclose(slopes[1], 2 * deviation, 0.1, 0.1)) << setting << slopes[1];
  }
  const auto step = std::make_shared<BlackBox>([](const Draws& z) { return z.real.select(1, 0).gt(0); }, 1);
  const auto estimator = make_estimator("reparameterised", {kTwoNormals, step, seeded(1)});
  EXPECT_THROW(estimator->expectation({{}, mean, deviation}), Error);
}

TEST(Estimators, AnesiIsExactOnceItHasSeenEverything) {
  const toys::RandomSeed seed;
  const auto generator = seeded(seed);
  const auto logits = 0.5 * torch::randn({5, 3, 4}, generator, torch::kFloat64);
  const auto estimator =
      make_estimator("anesi", {kSources, two_outcome_box(), generator}, {"first=400", "explore=0.5"});
  estimator->learn({uniform_beliefs(1, kSpace)});
  estimator->learn({uniform_beliefs(1, kSpace)});
  const auto ours = gradient_by_logits(logits, [&](const auto& beliefs) { return estimator->expectation({beliefs}); });
  EXPECT_TRUE(torch::allclose(ours, gradient_by_logits(logits, enumerated), 1e-3, 1e-3));
  EXPECT_EQ(estimator->calls(), 408);
}

TEST(Estimators, TheBoundHolds) {
  const auto generator = seeded(11);
  const auto estimator = make_estimator("anesi", {kSources, two_outcome_box(), generator}, {"calls=12", "explore=0"});
  const auto beliefs = toys::random_beliefs(3, kSpace, 1, generator);
  estimator->learn({beliefs});
  const auto bound = dynamic_cast<LearnedEstimator&>(*estimator).bound({beliefs}, 500);
  const auto error = (estimator->expectation({beliefs}) - enumerated(beliefs)).abs().mean().item<double>();
  EXPECT_GT(error, 0);
  EXPECT_LE(error, bound.mean + bound.margin);
}

// Worlds with real parts: perception emits two normals, and what is known compares them.
TEST(Estimators, ComparingTwoNormals) {
  const auto g =
      std::make_shared<BlackBox>([](const Draws& z) { return z.real.select(1, 0) > z.real.select(1, 1); }, 1);
  const auto estimator = make_estimator("anesi", {kTwoNormals, g, seeded(9)}, {"first=400", "calls=8"});
  const auto mean = torch::tensor({{0.3, 0.0}, {-0.5, 0.4}}, torch::kFloat64).requires_grad_(true);
  const auto deviation = torch::tensor({{1.0, 0.5}, {0.7, 0.7}}, torch::kFloat64).requires_grad_(true);
  const Parameters parameters{{}, mean, deviation};
  for (int step = 0; step < 20; ++step) estimator->learn(parameters);
  const auto apart = (mean.select(1, 0) - mean.select(1, 1)) / deviation.square().sum(1).sqrt();
  const auto exact = 0.5 * torch::erfc(-apart / std::numbers::sqrt2);
  const auto ours = estimator->expectation(parameters).squeeze(1);
  EXPECT_TRUE(torch::allclose(ours, exact, 0, 0.03)) << ours << exact;
  const auto slopes = torch::autograd::grad({ours.sum()}, {mean, deviation});
  const auto truth = torch::autograd::grad({exact.sum()}, {mean, deviation});
  EXPECT_TRUE(torch::allclose(slopes[0], truth[0], 0, 0.08)) << slopes[0] << truth[0];
  EXPECT_TRUE(torch::allclose(slopes[1], truth[1], 0, 0.08)) << slopes[1] << truth[1];
}

class OutcomeModels : public testing::TestWithParam<std::vector<std::string>> {};

// The mean of a noisy function of a categorical and a normal: E = 3 p + Phi(mean / deviation).
TEST_P(OutcomeModels, LearnAMeanOfBothKinds) {
  const Sources sources{.categoricals = {2}, .normals = 1};
  const auto generator = seeded(2);
  const SeededWeights weights(2);
  const auto g = std::make_shared<BlackBox>(
      [generator](const Draws& z) {
        const auto noise = 0.1 * torch::randn({z.rows()}, generator, torch::kFloat64);
        return 3 * z.discrete.select(1, 0) + z.real.select(1, 0).gt(0) + noise;
      },
      1);
  const auto estimator = make_estimator("anesi", {sources, g, generator}, GetParam());
  const auto one = torch::tensor({{0.3}}, torch::kFloat64).requires_grad_(true);
  const auto mean = torch::tensor({{0.2}}, torch::kFloat64).requires_grad_(true);
  const auto deviation = torch::tensor({{1.0}}, torch::kFloat64);
  const Parameters parameters{torch::stack({1 - one, one}, 2), mean, deviation};
  std::optional<double> first, last;
  for (int step = 0; step < 60; ++step) {
    last = estimator->learn(parameters);
    if (!first) first = last;
  }
  ASSERT_TRUE(last.has_value());
  const auto value = estimator->expectation(parameters);
  const auto slopes = torch::autograd::grad({value.sum()}, {one, mean});
  const auto density = std::exp(-0.5 * 0.04) / std::sqrt(2 * std::numbers::pi);
  EXPECT_NEAR(value.item<double>(), 0.9 + 0.5 * std::erfc(-0.2 / std::numbers::sqrt2), 0.3);
  EXPECT_NEAR(slopes[0].item<double>(), 3, 0.6);
  EXPECT_NEAR(slopes[1].item<double>(), density, 0.3);
}
INSTANTIATE_TEST_SUITE_P(Estimators, OutcomeModels,
                         testing::Values(std::vector<std::string>{"calls=10"},
                                         std::vector<std::string>{"calls=10", "kernel.bins=12"},
                                         std::vector<std::string>{"model=normal", "calls=128", "explore=0.7",
                                                                  "spread=1", "network.updates=20", "network.lr=0.001"},
                                         std::vector<std::string>{"model=mixture", "calls=128", "explore=0.7",
                                                                  "spread=1", "network.updates=20", "network.lr=0.001"},
                                         std::vector<std::string>{"model=histogram", "calls=128", "explore=0.7",
                                                                  "spread=1", "network.updates=20",
                                                                  "network.lr=0.001"}));

TEST(Estimators, OutcomeModelsAreDistributions) {
  // The mean of each is that of its density, by a fine sum over outcomes.
  const Sources sources{.categoricals = {2, 2}};
  const auto uniform = uniform_beliefs(1, sources.categoricals).to(torch::kFloat64);
  for (const std::vector<std::string>& settings : std::vector<std::vector<std::string>>{
           {}, {"model=normal"}, {"model=mixture"}, {"model=histogram"}, {"kernel.bins=4"}}) {
    const auto g = std::make_shared<BlackBox>([](const Draws& z) { return z.discrete.sum(1); }, 1);
    const SeededWeights weights(4);
    const auto estimator = make_estimator("anesi", {sources, g, seeded(4)}, settings);
    for (int step = 0; step < 30; ++step) estimator->learn({uniform});
    auto& model = dynamic_cast<LearnedEstimator&>(*estimator).model();
    const auto outcomes = torch::linspace(-6, 8, 20001, torch::kFloat64).unsqueeze(1);
    const torch::NoGradGuard no_gradients;
    const Parameters parameters = checked({uniform.expand({outcomes.size(0), -1, -1}).contiguous()}, sources);
    const auto density = model.log_prob(parameters, outcomes).exp();
    const auto step = 14.0 / 20000;
    if (settings != std::vector<std::string>{"model=histogram"} &&
        settings != std::vector<std::string>{"kernel.bins=4"}) {
      EXPECT_NEAR((density.sum() * step).item<double>(), 1, 0.02);
      EXPECT_NEAR(((density * outcomes.squeeze(1)).sum() * step).item<double>(),
                  model.mean(checked({uniform}, sources)).item<double>(), 0.05);
    } else {
      EXPECT_GT(density[10000].item<double>(), 0);  // at outcome 1
    }
    EXPECT_NEAR(model.mean(checked({uniform}, sources)).item<double>(), 1, 0.35);
  }
}

}  // namespace
}  // namespace anesi
