// The kernel, its expectations, its regression and the diagram of decisions against sampling and enumeration.
#include <gtest/gtest.h>

#include <cmath>

#include "anesi/estimate/decision_diagram.h"
#include "anesi/estimate/kernel_regression.h"
#include "anesi/estimate/outcome_bins.h"
#include "anesi/estimate/parameter_prior.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/rows.h"
#include "anesi/testing/random.h"

namespace anesi {
namespace {

TEST(OrderKernel, ExpectationsAreMeansOverDraws) {
  const toys::RandomSeed seed;
  const auto generator = seeded(seed);
  const Sources sources{.categoricals = {2, 3}, .normals = 2};
  const OrderKernel kernel(sources, 3);
  const KernelShape shape{.weights = {0.3, 1, 0.5, 0.2}, .length = 0.7};
  const Parameters one =
      checked({toys::random_beliefs(1, sources.categoricals, 1, generator),
               torch::tensor({{0.4, -3.0}}, torch::kFloat64), torch::tensor({{0.8, 0.05}}, torch::kFloat64)},
              sources);
  const auto others = draw(repeated(one, 5), 1, generator);
  const auto draws = draw(one, 200000, generator);
  const auto each = kernel(certain_of(draws, sources), others, shape);
  const auto closed = kernel(one, others, shape)[0];
  EXPECT_TRUE(torch::allclose(each.mean(0), closed, 0, 0.02)) << each.mean(0) << closed;
}

TEST(OrderKernel, NormalsFarAwayAndNarrowHaveFiniteGradients) {
  const OrderKernel kernel({.normals = 1}, 1);
  const Draws others{torch::zeros({4, 0}, torch::kInt64),
                     torch::tensor({{-50.0}, {0.0}, {1e-9}, {80.0}}, torch::kFloat64)};
  for (const double width : {1e-6, 1.0, 100.0}) {
    const auto mean = torch::zeros({1, 1}, torch::kFloat64).requires_grad_(true);
    const auto deviation = torch::full({1, 1}, width, torch::kFloat64).requires_grad_(true);
    const auto value = kernel({torch::zeros({1, 0, 0}, torch::kFloat64), mean, deviation}, others, {{0, 1}, 0.5});
    EXPECT_TRUE(value.isfinite().all().item<bool>()) << value;
    EXPECT_TRUE((value >= 0).logical_and(value <= 1).all().item<bool>()) << value;
    for (const auto& slope : torch::autograd::grad({value.sum()}, {mean, deviation})) {
      EXPECT_TRUE(slope.isfinite().all().item<bool>()) << width;
    }
  }
}

TEST(KernelRegression, RecoversALowOrderFunctionFromFewWorlds) {
  // Three terms of order 2 among twelve variables, seen on 150 of 4096 worlds.
  const toys::RandomSeed seed;
  const auto generator = seeded(seed);
  const Sources sources{.categoricals = Space::uniform(12, 2)};
  const auto g = [](const torch::Tensor& w) {
    const auto x = w.to(torch::kFloat64);
    return (2 * x.select(1, 0) * x.select(1, 5) - x.select(1, 3) + 3 * x.select(1, 7) * x.select(1, 11)).unsqueeze(1);
  };
  const auto worlds = torch::randint(2, {150, 12}, generator, torch::kInt64);
  KernelRegression regression(sources, {.orders = 3});
  for (const auto& some : worlds.split(10))
    regression.add({some, torch::zeros({some.size(0), 0}, torch::kFloat64)}, g(some));
  const auto unseen = torch::randint(2, {500, 12}, generator, torch::kInt64);
  const Draws draws{unseen, torch::zeros({500, 0}, torch::kFloat64)};
  const auto truth = g(unseen);
  const auto error = (regression.mean(certain_of(draws, sources)) - truth).square().mean() / truth.var();
  EXPECT_LT(error.item<double>(), 0.05);
}

TEST(KernelRegression, GrowingIsFittingAtOnceAndMemoryIsBounded) {
  const auto generator = seeded(1);
  const Sources sources{.normals = 1};
  KernelRegression grown(sources, {.memory = 64});
  for (int step = 0; step < 50; ++step) {
    const auto real = torch::randn({3, 1}, generator, torch::kFloat64);
    grown.add({torch::zeros({3, 0}, torch::kInt64), real}, real.sin());
    EXPECT_LE(grown.seen().rows(), 64);
  }
  const Parameters at = certain_of(grown.seen(), sources);
  EXPECT_TRUE(torch::allclose(grown.mean(at), grown.outcomes(), 0.02, 0.02));
}

TEST(DecisionDiagram, KeepsEqualPartsOnce) {
  // The sum of six bits has seven outcomes: layer i needs i + 1 nodes.
  const auto space = Space::uniform(6, 2);
  std::vector<std::int32_t> sums;
  space.for_each_point([&](Values point) {
    std::int32_t sum = 0;
    for (const auto value : point) sum += static_cast<std::int32_t>(value);
    sums.push_back(sum);
  });
  const auto outcomes = torch::arange(7, torch::kFloat64).unsqueeze(1);
  const DecisionDiagram diagram(space, sums, outcomes);
  EXPECT_EQ(diagram.nodes(), 1 + 2 + 3 + 4 + 5 + 6 + 7);
  const auto beliefs = toys::random_beliefs(3, space, 1, seeded(1));
  EXPECT_TRUE(torch::allclose(diagram.expectation(beliefs).squeeze(1), beliefs.select(2, 1).sum(1)));
}

TEST(OutcomeBins, FewOutcomesHaveABinEach) {
  const OutcomeBins bins(torch::tensor({3.0, 1.0, 1.0, 7.0}, torch::kFloat64), 10);
  EXPECT_TRUE(bins.centres().equal(torch::tensor({1.0, 3.0, 7.0}, torch::kFloat64)));
  EXPECT_TRUE(bins.bin_of(torch::tensor({-5.0, 2.9, 100.0}, torch::kFloat64)).equal(torch::tensor({0, 1, 2})));
  const OutcomeBins many(torch::linspace(0, 1, 1000, torch::kFloat64), 10);
  EXPECT_EQ(many.size(), 10);
  const OutcomeBins one(torch::ones({5}, torch::kFloat64), 10);
  EXPECT_EQ(one.size(), 1);
}

TEST(NormalInverseGamma, FollowsWhatWasObserved) {
  const auto generator = seeded(6);
  NormalInverseGamma prior(1);
  const auto mean = 2 + 3 * torch::randn({2000, 1}, generator, torch::kFloat64);
  const auto deviation = 0.5 + 0.2 * torch::rand({2000, 1}, generator, torch::kFloat64);
  for (int step = 0; step < 20; ++step) prior.observe(mean, deviation);
  const auto [means, deviations] = prior.sample(20000, generator);
  EXPECT_NEAR(means.mean().item<double>(), 2, 0.2);
  EXPECT_NEAR(means.std().item<double>(), 3, 0.4);
  EXPECT_NEAR(deviations.square().mean().item<double>(), deviation.square().mean().item<double>(), 0.02);
}

}  // namespace
}  // namespace anesi
