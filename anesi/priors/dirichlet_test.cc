#include "anesi/priors/dirichlet.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

// Beliefs as a network would emit them.
torch::Tensor emitted(const Space& space, std::int64_t count, std::uint64_t seed) {
  auto logits = 3 * torch::randn({count, space.variables(), space.largest_domain()}, seeded(seed));
  for (std::int64_t variable = 0; variable < space.variables(); ++variable) {
    logits.select(1, variable).slice(1, space.domain(variable)).fill_(-INFINITY);
  }
  return logits.softmax(-1);
}

// The fit by libtorch: autograd and its Adam, in double. Every variable has its own tensor of its domain's size.
class AutogradFit {
 public:
  AutogradFit(const Space& space, DirichletFit options) : space_(space), options_(options) {
    for (const auto domain : space.domains()) {
      const double x = options.initial + std::log(-std::expm1(-options.initial));
      parameters_.push_back(torch::full({domain}, x, torch::kDouble).requires_grad_());
    }
    adam_ = std::make_unique<torch::optim::Adam>(parameters_, torch::optim::AdamOptions(options.learning_rate));
  }

  void fit(const torch::Tensor& beliefs) {
    const auto logs = beliefs.to(torch::kDouble).clamp_min(FittedDirichlet::kSmallestBelief).log().mean(0);
    const double filled = static_cast<double>(beliefs.size(0)) / static_cast<double>(options_.window);
    for (std::int64_t iteration = 0; iteration < options_.iterations; ++iteration) {
      std::vector<torch::Tensor> likelihoods, concentrations;
      for (std::int64_t variable = 0; variable < space_.variables(); ++variable) {
        const auto alpha = torch::nn::functional::softplus(parameters_[static_cast<std::size_t>(variable)]);
        const auto mean_log = logs[variable].slice(0, 0, space_.domain(variable));
        likelihoods.push_back(torch::lgamma(alpha.sum()) - torch::lgamma(alpha).sum() + ((alpha - 1) * mean_log).sum());
        concentrations.push_back(alpha);
      }
      const auto loss =
          -beliefs.size(0) * torch::stack(likelihoods).mean() +
          options_.l2 * (options_.l2_per_belief ? filled : 1.0) * torch::cat(concentrations).square().mean();
      adam_->zero_grad();
      loss.backward();
      adam_->step();
    }
  }

  torch::Tensor concentration() const {
    auto padded = torch::zeros({space_.variables(), space_.largest_domain()}, torch::kDouble);
    for (std::int64_t variable = 0; variable < space_.variables(); ++variable) {
      padded[variable]
          .slice(0, 0, space_.domain(variable))
          .copy_(torch::nn::functional::softplus(parameters_[static_cast<std::size_t>(variable)]).detach());
    }
    return padded;
  }

 private:
  Space space_;
  DirichletFit options_;
  std::vector<torch::Tensor> parameters_;
  std::unique_ptr<torch::optim::Adam> adam_;
};

double largest_difference(const torch::Tensor& one, const torch::Tensor& other) {
  return (one - other).abs().max().item<double>();
}

TEST(FittedDirichlet, StartsAtTheInitialConcentration) {
  FittedDirichlet prior({3, 2});
  const auto expected = torch::tensor({0.1, 0.1, 0.1, 0.1, 0.1, 0.0}, torch::kDouble).view({2, 3});
  EXPECT_LT(largest_difference(prior.concentration(), expected), 1e-15);
  prior.fit();
  EXPECT_LT(largest_difference(prior.concentration(), expected), 1e-15);
  EXPECT_THROW(prior.objective(), Error);
}

TEST(FittedDirichlet, FitsAsAutogradAndAdamDo) {
  const Space unequal{7, 2, 10, 1};
  for (const bool l2_per_belief : {true, false}) {
    for (const double l2 : {900000.0, 0.0}) {
      const DirichletFit options{.window = 100, .l2 = l2, .l2_per_belief = l2_per_belief};
      FittedDirichlet prior(unequal, options);
      AutogradFit reference(unequal, options);
      torch::Tensor seen = torch::empty({0, 4, 10});
      for (std::uint64_t step = 0; step < 4; ++step) {  // the third batch overflows the window
        const auto beliefs = emitted(unequal, 40, step);
        seen = torch::cat({seen, beliefs});
        seen = seen.slice(0, std::max<std::int64_t>(0, seen.size(0) - options.window));
        prior.observe(beliefs);
        prior.fit();
        reference.fit(seen);
        ASSERT_LT(largest_difference(prior.concentration(), reference.concentration()), 1e-8) << "fit " << step;
      }
    }
  }
}

TEST(FittedDirichlet, PaddingDoesNotMatter) {
  // A variable is fitted alike whether or not another has a larger domain. L2 is a mean over all values, so without it.
  FittedDirichlet padded({4, 2}, {.l2 = 0}), alone({2}, {.l2 = 0});
  const auto beliefs = emitted({4, 2}, 20, 1);
  padded.observe(beliefs);
  alone.observe(beliefs.slice(1, 1).slice(2, 0, 2));
  padded.fit();
  alone.fit();
  const auto concentration = padded.concentration();
  EXPECT_LT(largest_difference(concentration[1].slice(0, 0, 2), alone.concentration()[0]), 1e-9);
  EXPECT_EQ(concentration[1][2].item<double>(), 0.0);
  EXPECT_EQ(concentration[1][3].item<double>(), 0.0);
}

TEST(FittedDirichlet, AdamAndNewtonReachTheSameOptimum) {
  const Space space{3, 5};
  for (const double l2 : {900000.0, 0.0}) {
    // Adam does not come to rest at its learning rate, so it ends with a smaller one.
    FittedDirichlet coarse(space, {.iterations = 20000, .l2 = l2});
    FittedDirichlet adam(space, {.iterations = 20000, .learning_rate = 1e-5, .l2 = l2});
    FittedDirichlet newton(space, {.l2 = l2, .method = DirichletFit::Method::kNewton});
    const auto beliefs = emitted(space, 300, 2);
    coarse.observe(beliefs);
    newton.observe(beliefs);
    coarse.fit();
    adam.load_state(coarse.state());
    adam.fit();
    newton.fit();
    EXPECT_LT(largest_difference(adam.concentration(), newton.concentration()), 1e-5) << "l2 " << l2;
    std::vector<double> alpha, gradient(8);
    for (std::int64_t i : {0, 1, 2, 5, 6, 7, 8, 9}) alpha.push_back(newton.concentration().flatten()[i].item<double>());
    newton.objective().gradient(alpha, gradient);
    for (const double g : gradient) EXPECT_NEAR(g, 0.0, 1e-6);
  }
}

TEST(FittedDirichlet, SumsDoNotDrift) {
  // After the window has been filled many times over, the same beliefs give the same fit as in a new prior.
  const Space space{3, 3};
  const DirichletFit options{.window = 10, .method = DirichletFit::Method::kNewton};
  FittedDirichlet worn(space, options), fresh(space, options);
  for (std::uint64_t step = 0; step < 300; ++step) worn.observe(emitted(space, 7, step));
  worn.observe(emitted(space, 10, 1000));
  fresh.observe(emitted(space, 10, 1000));
  worn.fit();
  fresh.fit();
  EXPECT_TRUE(torch::equal(worn.concentration(), fresh.concentration()));
}

TEST(FittedDirichlet, BeliefsOfZeroAreHeldAtTheFloor) {
  FittedDirichlet zero({2}), floor({2});
  zero.observe(torch::tensor({{{1.0, 0.0}}, {{0.5, 0.5}}}));
  floor.observe(torch::tensor({{{1.0, 9e-8}}, {{0.5, 0.5}}}));
  zero.fit();
  floor.fit();
  EXPECT_TRUE(zero.concentration().isfinite().all().item<bool>());
  EXPECT_TRUE(torch::equal(zero.concentration(), floor.concentration()));
}

TEST(FittedDirichlet, KeepsNoGraph) {
  FittedDirichlet prior({3});
  auto logits = torch::randn({4, 1, 3}, torch::requires_grad());
  const auto beliefs = logits.softmax(-1);
  prior.observe(beliefs);
  prior.fit();
  EXPECT_EQ(beliefs.use_count(), 1U);
  EXPECT_FALSE(prior.state().at("beliefs").requires_grad());
  EXPECT_FALSE(prior.sample(2, seeded(1)).requires_grad());
}

TEST(FittedDirichlet, ContinuesBitForBitFromItsState) {
  const Space space{5, 3, 4};
  for (const auto method : {DirichletFit::Method::kAdam, DirichletFit::Method::kNewton}) {
    const DirichletFit options{.window = 30, .method = method};
    FittedDirichlet prior(space, options);
    const auto train = [&](FittedDirichlet& trained, std::uint64_t first, std::uint64_t last) {
      for (auto step = first; step < last; ++step) {
        trained.observe(emitted(space, 8, step));
        trained.fit();
      }
    };
    train(prior, 0, 6);
    const auto saved = prior.state();
    train(prior, 6, 12);
    FittedDirichlet resumed(space, options);
    train(resumed, 50, 53);
    resumed.load_state(saved);
    train(resumed, 6, 12);
    EXPECT_TRUE(torch::equal(prior.concentration(), resumed.concentration()));
    EXPECT_TRUE(torch::equal(prior.sample(10, seeded(3)), resumed.sample(10, seeded(3))));
    for (const auto& [name, tensor] : prior.state())
      EXPECT_TRUE(torch::equal(tensor, resumed.state().at(name))) << name;
  }
}

TEST(FittedDirichlet, RefusesAnotherState) {
  FittedDirichlet prior({5, 3}), other({4, 4});
  EXPECT_THROW(prior.load_state(other.state()), Error);
  EXPECT_THROW(prior.load_state({}), Error);
}

TEST(FittedDirichlet, RefusesOptionsOutOfRange) {
  EXPECT_THROW(FittedDirichlet({2}, {.window = 0}), UsageError);
  EXPECT_THROW(FittedDirichlet({2}, {.iterations = -1}), UsageError);
  EXPECT_THROW(FittedDirichlet({2}, {.learning_rate = 0}), UsageError);
  EXPECT_THROW(FittedDirichlet({2}, {.initial = 0}), UsageError);
  EXPECT_THROW(FittedDirichlet({2}, {.l2 = -1}), UsageError);
}

}  // namespace
}  // namespace anesi
