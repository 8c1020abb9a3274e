#include "anesi/priors/mixture.h"

#include <gtest/gtest.h>

#include "anesi/priors/dirichlet_sampler.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random.h"

namespace anesi {
namespace {

const Space kMixed{3, 2, 1};

// Two kinds of beliefs: all variables sure of their first value, or all in doubt.
torch::Tensor two_kinds(std::int64_t sure, std::int64_t doubtful, std::uint64_t seed) {
  const auto generator = seeded(seed);
  const auto one = torch::tensor({8.0, 1.0, 1.0, 9.0, 1.0, 0.0, 2.0, 0.0, 0.0}, torch::kFloat64).view({3, 3});
  const auto other = torch::tensor({4.0, 6.0, 5.0, 5.0, 7.0, 0.0, 2.0, 0.0, 0.0}, torch::kFloat64).view({3, 3});
  return torch::cat({sample_dirichlet(one, sure, generator), sample_dirichlet(other, doubtful, generator)});
}

DirichletMixture fitted_mixture(const torch::Tensor& beliefs, std::int64_t components, std::int64_t rounds) {
  DirichletMixture mixture(kMixed, {.components = components, .rounds = rounds}, {.window = 10000, .l2 = 0});
  mixture.observe(beliefs);
  mixture.fit();
  return mixture;
}

TEST(DirichletMixture, EveryRoundOfEmRaisesTheLikelihood) {
  const toys::RandomSeed seed;
  const auto beliefs = toys::random_beliefs(400, kMixed, 1.5, seeded(seed));
  DirichletMixture mixture(kMixed, {.components = 3, .rounds = 1}, {.l2 = 0});
  mixture.observe(beliefs);
  double before = -INFINITY, first = 0;
  for (int fit = 0; fit < 25; ++fit) {
    mixture.fit();
    const auto after = mixture.log_density(beliefs.to(torch::kFloat32)).mean().item<double>();
    if (fit == 0) first = after;
    ASSERT_GE(after, before - 1e-6) << "fit " << fit;
    before = after;
  }
  EXPECT_GT(before, first);
}

TEST(DirichletMixture, FindsTheMixtureThatBeliefsCameFrom) {
  const auto mixture = fitted_mixture(two_kinds(1200, 2800, 1), 2, 100);
  const auto weights = mixture.weights();
  const auto concentrations = mixture.concentrations();
  const auto sure = weights.argmin().item<std::int64_t>();
  EXPECT_NEAR(weights[sure].item<double>(), 0.3, 0.02);
  const auto expect = [&](std::int64_t component, std::vector<double> wanted) {
    const auto expected = torch::tensor(wanted, torch::kFloat64);
    const auto found = concentrations[component].slice(0, 0, 2).flatten().slice(0, 0, 5);
    EXPECT_LT(((found - expected) / expected).abs().max().item<double>(), 0.15) << found;
  };
  expect(sure, {8, 1, 1, 9, 1});
  expect(1 - sure, {4, 6, 5, 5, 7});
  EXPECT_EQ(concentrations.select(1, 1).select(1, 2).abs().max().item<double>(), 0);  // past the domain
}

TEST(DirichletMixture, OneComponentIsTheDirichletThatNewtonFinds) {
  const auto beliefs = two_kinds(100, 100, 2);
  const DirichletFit fit{.window = 300, .l2 = 20000, .method = DirichletFit::Method::kNewton};
  FittedDirichlet alone(kMixed, fit);
  DirichletMixture mixture(kMixed, {.components = 1}, fit);
  alone.observe(beliefs);
  mixture.observe(beliefs);
  alone.fit();
  mixture.fit();
  const auto difference = (alone.concentration() - mixture.concentrations()[0]).slice(0, 0, 2).abs();
  EXPECT_LT(difference.max().item<double>(), 1e-8);
}

TEST(DirichletMixture, DrawsWhatVariablesHaveInCommon) {
  auto mixture = fitted_mixture(two_kinds(2000, 2000, 3), 2, 50);
  const auto drawn = mixture.sample(20000, seeded(4));
  check_beliefs(drawn, kMixed);
  const auto correlation = [](const torch::Tensor& beliefs) {
    const auto pair = torch::stack({beliefs.select(1, 0).select(1, 0), beliefs.select(1, 1).select(1, 0)});
    return torch::corrcoef(pair)[0][1].item<double>();
  };
  const auto observed = correlation(two_kinds(20000, 20000, 5));
  EXPECT_GT(observed, 0.4);
  EXPECT_NEAR(correlation(drawn), observed, 0.03);
}

TEST(DirichletMixture, BeginsAsOneDirichletAndSurvivesBeliefsThatAreAllAlike) {
  DirichletMixture mixture(kMixed, {.components = 4}, {.l2 = 0});
  EXPECT_TRUE((mixture.concentrations().select(1, 0) == 0.1).all().item<bool>());
  mixture.fit();  // nothing observed
  for (int step = 0; step < 5; ++step) {
    mixture.observe(uniform_beliefs(3, kMixed));
    mixture.observe(certain_beliefs(torch::zeros({1, 3}, torch::kInt64), kMixed));
    mixture.fit();
  }
  EXPECT_TRUE(mixture.concentrations().isfinite().all().item<bool>());
  check_beliefs(mixture.sample(100, seeded(1)), kMixed);
}

TEST(DirichletMixture, ContinuesBitForBitFromItsState) {
  const auto make = [] { return DirichletMixture(kMixed, {.components = 3}, {.window = 50, .l2 = 1000}); };
  const auto train = [](DirichletMixture& mixture, std::uint64_t first, std::uint64_t last) {
    for (auto step = first; step < last; ++step) {
      mixture.observe(two_kinds(7, 6, step));
      mixture.fit();
    }
  };
  auto straight = make(), resumed = make();
  train(straight, 0, 6);
  const auto saved = straight.state();
  train(straight, 6, 12);
  train(resumed, 50, 52);
  resumed.load_state(saved);
  train(resumed, 6, 12);
  EXPECT_TRUE(torch::equal(straight.sample(10, seeded(3)), resumed.sample(10, seeded(3))));
  for (const auto& [name, tensor] : straight.state()) {
    EXPECT_TRUE(torch::equal(tensor, resumed.state().at(name))) << name;
  }
}

TEST(DirichletMixture, RefusesWhatIsNotItsOwn) {
  DirichletMixture mixture(kMixed, {.components = 3});
  const DirichletMixture other(kMixed, {.components = 4});
  EXPECT_THROW(mixture.load_state(other.state()), Error);
  EXPECT_THROW(mixture.load_state(FittedDirichlet(kMixed).state()), Error);
  EXPECT_THROW(mixture.observe(torch::full({1, 3, 3}, NAN)), Error);
  EXPECT_THROW(DirichletMixture(kMixed, {}, {.l2 = -1}), UsageError);
  EXPECT_TRUE(
      toys::names(toys::message_of([] { DirichletMixture(kMixed, {.components = 0}); }), {"mixture.components"}));
}

}  // namespace
}  // namespace anesi
