#include "anesi/priors/flow.h"

#include <gtest/gtest.h>

#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random.h"

namespace anesi {
namespace {

const Space kUneven{3, 2, 1, 4};

// Log-odds x of the first variable, and of the second the same plus a bend and a little of its own: not normal.
torch::Tensor bent_log_odds(std::int64_t count, std::uint64_t seed) {
  const auto generator = seeded(seed);
  const auto x = torch::randn({count}, generator, torch::kFloat64);
  const auto y = 0.5 * x + 0.8 * (x.square() - 1) + 0.3 * torch::randn({count}, generator, torch::kFloat64);
  return torch::stack({x, y}, 1);
}

torch::Tensor of_log_odds(const torch::Tensor& odds) {
  return torch::stack({torch::zeros_like(odds), odds}, 2).softmax(2).to(torch::kFloat32);
}

FlowPrior fitted_flow(const torch::Tensor& beliefs, const Space& space, std::int64_t fits, FlowOptions options = {}) {
  FlowPrior prior(space, options, beliefs.size(0));
  prior.observe(beliefs);
  for (std::int64_t fit = 0; fit < fits; ++fit) prior.fit();
  return prior;
}

TEST(LogRatios, LeadThereAndBack) {
  const toys::RandomSeed seed;
  const LogRatios ratios(kUneven);
  EXPECT_EQ(ratios.size(), 2 + 1 + 0 + 3);
  const auto beliefs = toys::random_beliefs(100, kUneven, 2, seeded(seed));
  const auto there = ratios.of(beliefs);
  EXPECT_LT((ratios.beliefs(there) - beliefs).abs().max().item<double>(), 1e-6);
  // Lengths are those of centred log-ratios.
  const auto logs = beliefs.slice(1, 0, 1).log();
  const auto centred = logs.slice(2, 0, 3) - logs.slice(2, 0, 3).mean(2, true);
  EXPECT_LT((centred.square().sum({1, 2}) - there.slice(1, 0, 2).square().sum(1)).abs().max().item<double>(), 1e-9);
}

TEST(CouplingFlow, GoesThereAndBackAndKnowsByHowMuchItStretches) {
  const toys::RandomSeed seed;
  torch::manual_seed(seed);
  CouplingFlow flow(3, 4, 8);
  const auto data = torch::randn({5, 3}, torch::kFloat64);
  flow.to(torch::kFloat64);
  EXPECT_TRUE(torch::equal(flow.to_normal(data).points, data));  // fresh: the identity
  {
    const torch::NoGradGuard no_gradients;
    for (auto& parameter : flow.parameters()) parameter.normal_(0, 0.5);
  }
  const auto [points, log_det] = flow.to_normal(data);
  EXPECT_LT((flow.from_normal(points) - data).abs().max().item<double>(), 1e-9);
  const double step = 1e-6;
  for (std::int64_t row = 0; row < data.size(0); ++row) {
    std::vector<torch::Tensor> columns;
    for (std::int64_t place = 0; place < 3; ++place) {
      auto more = data.slice(0, row, row + 1).clone(), less = more.clone();
      more[0][place] += step;
      less[0][place] -= step;
      columns.push_back((flow.to_normal(more).points - flow.to_normal(less).points)[0] / (2 * step));
    }
    const auto expected = torch::stack(columns, 1).det().abs().log().item<double>();
    EXPECT_NEAR(log_det[row].item<double>(), expected, 1e-5);
  }
}

TEST(FlowPrior, ItsDensityIntegratesToOne) {
  auto prior = fitted_flow(of_log_odds(bent_log_odds(2000, 1)), {2, 2}, 300);
  constexpr std::int64_t kSide = 601;
  const auto line = torch::linspace(-12, 12, kSide, torch::kFloat64);
  const auto odds = torch::stack({line.repeat_interleave(kSide), line.repeat({kSide})}, 1);
  // A log-ratio is the log-odds times the square root of a half.
  const double area = 0.5 * (24.0 / (kSide - 1)) * (24.0 / (kSide - 1));
  EXPECT_NEAR(prior.log_density(of_log_odds(odds)).exp().sum().item<double>() * area, 1, 0.01);
}

TEST(FlowPrior, LearnsWhatIsNotNormal) {
  const auto beliefs = of_log_odds(bent_log_odds(2000, 1)), others = of_log_odds(bent_log_odds(2000, 2));
  auto normal = fitted_flow(beliefs, {2, 2}, 1, {.layers = 0});
  auto flow = fitted_flow(beliefs, {2, 2}, 500);
  const auto before = normal.log_density(others).mean().item<double>();
  const auto after = flow.log_density(others).mean().item<double>();
  // The distribution itself: x is standard normal and y normal about what x says; log 2 for log-ratios against
  // log-odds.
  const double best = -2 * 0.5 * std::log(2 * M_PI * M_E) - std::log(0.3) + std::log(2.0);
  EXPECT_GT(after, before + 0.5 * (best - before));
  EXPECT_LT(after, best + 0.05);
}

TEST(FlowPrior, DrawsTheMomentsOfWhatItObserved) {
  const auto observed = bent_log_odds(2500, 3);
  auto prior = fitted_flow(of_log_odds(observed), {2, 2}, 500, {.broad = 0});
  const auto drawn = prior.sample(40000, seeded(4));
  check_beliefs(drawn, {2, 2});
  const auto odds = drawn.select(2, 1).to(torch::kFloat64).clamp(1e-12, 1 - 1e-7).logit().t();
  const auto wanted = observed.t();
  EXPECT_LT((odds.mean(1) - wanted.mean(1)).abs().max().item<double>(), 0.15);
  EXPECT_LT((odds.std(1) / wanted.std(1) - 1).abs().max().item<double>(), 0.15);
  const auto correlation = torch::corrcoef(wanted)[0][1].item<double>();
  EXPECT_GT(correlation, 0.3);
  EXPECT_NEAR(torch::corrcoef(odds)[0][1].item<double>(), correlation, 0.06);
  // What a normal distribution would not have: that y goes with the square of x.
  const auto bend = [](const torch::Tensor& pair) {
    return torch::corrcoef(torch::stack({pair[0].square(), pair[1]}))[0][1].item<double>();
  };
  EXPECT_GT(bend(wanted), 0.8);
  EXPECT_GT(bend(odds), 0.6);
}

TEST(FlowPrior, BeforeTheFirstBeliefItIsAFixedDirichlet) {
  FlowPrior prior(kUneven, {}, 100, 0.3);
  prior.fit();
  const auto drawn = prior.sample(30, seeded(7));
  check_beliefs(drawn, kUneven);
  const auto own = prior.sample(20000, seeded(7)).select(1, 1).select(1, 0);
  EXPECT_NEAR(own.var().item<double>(), 0.25 / 1.6, 0.01);  // of Beta(0.3, 0.3)
  EXPECT_THROW(prior.log_density(drawn), Error);
}

TEST(FlowPrior, IsSafeWhereBeliefsAreCertainOrAllAlike) {
  for (const bool certain : {true, false}) {
    FlowPrior prior(kUneven, {.broad = 0}, 100);
    for (std::uint64_t step = 0; step < 20; ++step) {
      const auto worlds = sample_worlds(uniform_beliefs(8, kUneven), seeded(step));
      prior.observe(certain ? certain_beliefs(worlds, kUneven) : uniform_beliefs(8, kUneven));
      prior.fit();
    }
    const auto drawn = prior.sample(500, seeded(1));
    check_beliefs(drawn, kUneven);
    if (!certain) {
      EXPECT_LT((drawn - uniform_beliefs(1, kUneven)).abs().max().item<double>(), 0.3);
    }
    EXPECT_FALSE(drawn.requires_grad());
  }
  FlowPrior single({2}, {.broad = 0}, 100);  // one log-ratio: nothing to couple
  single.observe(of_log_odds(torch::randn({50, 1}, seeded(2), torch::kFloat64)));
  single.fit();
  check_beliefs(single.sample(10, seeded(1)), {2});
}

TEST(FlowPrior, FitsWithoutTouchingTorchsGeneratorOrItsModes) {
  torch::manual_seed(1);
  const auto expected = torch::rand({3});
  torch::manual_seed(1);
  const torch::NoGradGuard no_gradients;  // as training calls it
  auto prior = fitted_flow(toys::random_beliefs(40, kUneven, 1, seeded(1)).to(torch::kFloat32), kUneven, 3);
  prior.sample(5, seeded(2));
  EXPECT_TRUE(torch::equal(torch::rand({3}), expected));
}

TEST(FlowPrior, ContinuesBitForBitFromItsState) {
  const auto train = [](FlowPrior& prior, std::uint64_t first, std::uint64_t last) {
    for (auto step = first; step < last; ++step) {
      prior.observe(toys::random_beliefs(9, kUneven, 2, seeded(step)).to(torch::kFloat32));
      prior.fit();
    }
  };
  FlowPrior straight(kUneven, {}, 40), resumed(kUneven, {}, 40), fresh(kUneven, {}, 40);
  resumed.load_state(fresh.state());  // before any fit
  train(straight, 0, 6);
  const auto saved = straight.state();
  train(straight, 6, 12);
  train(resumed, 50, 53);
  resumed.load_state(saved);
  train(resumed, 6, 12);
  EXPECT_TRUE(torch::equal(straight.sample(10, seeded(3)), resumed.sample(10, seeded(3))));
  for (const auto& [name, tensor] : straight.state()) {
    EXPECT_TRUE(torch::equal(tensor, resumed.state().at(name))) << name;
  }
}

TEST(FlowPrior, RefusesWhatIsNotItsOwn) {
  FlowPrior prior(kUneven, {}), other(kUneven, {.width = 8}), elsewhere({2, 2}, {});
  EXPECT_THROW(prior.load_state(other.state()), Error);
  EXPECT_THROW(prior.load_state(elsewhere.state()), Error);
  EXPECT_THROW(prior.load_state({}), Error);
  EXPECT_THROW(prior.observe(torch::full({1, 4, 4}, NAN)), Error);
  EXPECT_THROW(FlowPrior(kUneven, {}, 0), UsageError);
  EXPECT_THROW(FlowPrior(kUneven, {}, 100, 0), UsageError);
  EXPECT_TRUE(toys::names(toys::message_of([] { FlowPrior(kUneven, {.lr = 0}); }), {"flow.lr"}));
}

}  // namespace
}  // namespace anesi
