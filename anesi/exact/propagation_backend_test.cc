#include "anesi/exact/propagation_backend.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/pruner.h"
#include "anesi/testing/random_problems.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

using toys::Oracle;

// What some world completes, by going through all.
class ListedPruner final : public Pruner {
 public:
  explicit ListedPruner(std::vector<Oracle::World> worlds) : worlds_(std::move(worlds)) {}
  void allow_outputs(Values, std::int64_t, Mask mask) const override { std::ranges::fill(mask, true); }
  void allow_worlds(Values output, Values partial, std::int64_t variable, Mask mask) const override {
    for (const auto& [world, given] : worlds_) {
      bool agrees = admits(output[0], given[0]);
      for (std::size_t i = 0; i < partial.size(); ++i) agrees = agrees && admits(partial[i], world[i]);
      if (agrees) mask[as_size(world[as_size(variable)])] = true;
    }
  }

 private:
  std::vector<Oracle::World> worlds_;
};

struct Asked {
  Asked(const Space& space, const toys::LogBelief& belief, std::int64_t output)
      : numbers(as_size(space.variables() * space.largest_domain()), kLogOfZero),
        gradient(numbers.size()),
        outputs(1, 1, output),
        space_(space) {
    for (std::size_t variable = 0; variable < belief.size(); ++variable) {
      std::ranges::copy(belief[variable],
                        numbers.begin() + static_cast<std::int64_t>(variable) * space.largest_domain());
    }
  }
  Query query() const { return {{numbers.data(), 1, space_.variables(), space_.largest_domain()}, outputs}; }
  GradientRows slopes() { return {gradient.data(), 1, space_.variables(), space_.largest_domain()}; }
  double log_prob(const Backend& backend) {
    std::vector<double> result(1);
    backend.log_prob(query(), result, slopes());
    return result[0];
  }

  std::vector<double> numbers, gradient;
  Points outputs;

 private:
  const Space& space_;
};

// Beliefs from mild to extreme. Enough cases for every loop.
TEST(PropagationBackend, AgreesWithTheOracleIfItIsExact) {
  const toys::RandomSeed seed;
  toys::Chances chances(seed);
  int trials = 0;
  while (trials < 100) {
    auto problem = toys::random_constraint(chances);
    const Oracle oracle(*problem);
    problem = with(problem, std::unique_ptr<Pruner>(std::make_unique<ListedPruner>(oracle.worlds())));
    std::unique_ptr<Backend> backend;
    try {
      backend = make_propagation_backend(*problem, {.cases = 65536});
    } catch (const UsageError&) {
      continue;  // nothing satisfies it
    }
    ++trials;
    for (int example = 0; example < 5; ++example) {
      const auto belief = toys::random_log_belief(chances, problem->worlds());
      for (const std::int64_t output : {1, 0}) {
        Asked asked(problem->worlds(), belief, output);
        const toys::Label label{.output = {output}};
        const double truth = oracle.log_prob(belief, label), log_prob = asked.log_prob(*backend);
        const double other = oracle.log_prob(belief, {.output = {1 - output}});
        if (output == 0 && other > -1e-3) continue;  // little is left of the other, which rounding may swallow
        if (truth == Oracle::kNever) {
          EXPECT_TRUE(log_prob == truth || (output == 0 && log_prob < -30)) << log_prob << toys::told(belief, label);
          continue;
        }
        EXPECT_NEAR(log_prob, truth, 1e-9) << toys::told(belief, label);
        const auto marginals = oracle.marginals(belief, label);
        for (std::size_t variable = 0; variable < marginals.size(); ++variable) {
          for (std::size_t value = 0; value < marginals[variable].size(); ++value) {
            EXPECT_NEAR(asked.slopes()(0, static_cast<std::int64_t>(variable), static_cast<std::int64_t>(value)),
                        marginals[variable][value], 1e-8);
          }
        }
        Points best(1, problem->worlds().variables());
        std::vector<double> of_best(1);
        backend->most_probable(asked.query(), best, of_best);
        EXPECT_EQ(apply_to(*problem, best[0])[0], output);
        EXPECT_LE(of_best[0], oracle.ranked_worlds(belief, label)[0].log_prob + 1e-9);
      }
    }
  }
}

TEST(PropagationBackend, SamplesThePosterior) {
  const toys::RandomSeed seed;
  toys::Chances chances(seed);
  // At most one of four is 0, and another loop.
  Cnf cnf(Encoding{.worlds = {{-1, 1}, {-2, 2}, {-3, 3}, {-4, 4}}, .outputs = {}}, 4,
          {{1, 2}, {1, 3}, {2, 3}, {-1, -2, -4}});
  const auto problem =
      with(make_problem(Space::uniform(4, 2), Space{2},
                        [](Values w, MutableValues y) { y[0] = w[0] + w[1] + w[2] >= 2 && w[0] + w[1] + w[3] < 3; }),
           cnf);
  const auto backend = make_propagation_backend(*problem, {.cases = 16});
  const Oracle oracle(*problem);
  toys::LogBelief belief(4, {std::log(0.4), std::log(0.6)});
  const Asked asked(problem->worlds(), belief, 1);
  Random random(seed);
  std::vector<double> mean(4, 0);
  constexpr int kSamples = 4000;
  for (int sample = 0; sample < kSamples; ++sample) {
    Points world(1, 4);
    backend->sample(asked.query(), random, world);
    EXPECT_EQ(apply_to(*problem, world[0])[0], 1);
    for (std::size_t variable = 0; variable < 4; ++variable) {
      mean[variable] += static_cast<double>(world[0][variable]) / kSamples;
    }
  }
  const auto marginals = oracle.marginals(belief, {.output = {1}});
  for (std::size_t variable = 0; variable < 4; ++variable) EXPECT_NEAR(mean[variable], marginals[variable][1], 0.04);
}

// Of an estimate that is not exact: both outputs, first derivatives and second ones.
TEST(PropagationBackend, DerivativesAreThoseOfTheEstimate) {
  const toys::RandomSeed seed;
  toys::Chances chances(seed);
  constexpr double kStep = 2e-6;
  for (int trial = 0; trial < 30;) {
    Encoding encoding;
    for (int variable = 1; variable <= 6; ++variable) encoding.worlds.push_back({-variable, variable});
    std::vector<std::vector<int>> clauses(9);
    for (auto& clause : clauses) {
      for (const auto base : {1, 3, 5}) {
        const auto variable = static_cast<int>(chances.between(base, base + 1));
        clause.push_back(chances.chance(0.5) ? variable : -variable);
      }
    }
    const auto problem = with(make_problem(Space::uniform(6, 2), Space{2}, [](Values, MutableValues y) { y[0] = 1; }),
                              Cnf(encoding, 6, clauses));
    const auto backend = make_propagation_backend(*problem, {.cases = 2});
    toys::LogBelief belief(6, std::vector<double>(2)), direction = belief;
    for (auto& values : belief) values = {chances.normal(), chances.normal()};
    for (auto& values : direction) values = {chances.normal(), chances.normal()};
    for (const std::int64_t output : {0, 1}) {
      Asked asked(problem->worlds(), belief, output);
      if (!std::isfinite(asked.log_prob(*backend))) continue;
      const auto gradient = asked.gradient;
      for (std::size_t entry = 0; entry < gradient.size(); ++entry) {
        auto above = asked, below = asked;
        above.numbers[entry] += kStep;
        below.numbers[entry] -= kStep;
        EXPECT_NEAR(gradient[entry], (above.log_prob(*backend) - below.log_prob(*backend)) / (2 * kStep), 1e-5);
      }
      Asked along(problem->worlds(), direction, output);
      std::vector<double> product(gradient.size());
      backend->hessian_product(asked.query(), along.query().logs, {product.data(), 1, 6, 2});
      const auto difference = [&](double step) {
        auto above = asked, below = asked;
        for (std::size_t entry = 0; entry < gradient.size(); ++entry) {
          above.numbers[entry] += step * along.numbers[entry];
          below.numbers[entry] -= step * along.numbers[entry];
        }
        above.log_prob(*backend);
        below.log_prob(*backend);
        for (std::size_t entry = 0; entry < gradient.size(); ++entry) {
          above.gradient[entry] = (above.gradient[entry] - below.gradient[entry]) / (2 * step);
        }
        return above.gradient;
      };
      // Where these two differ the estimate has a kink: a message is at its bound.
      const auto expected = difference(1e-6), wider = difference(3e-5);
      for (std::size_t entry = 0; entry < gradient.size(); ++entry) {
        const double tolerance = 1e-3 * std::max(1.0, std::abs(expected[entry]));
        if (std::abs(expected[entry] - wider[entry]) > tolerance / 10) break;
        EXPECT_NEAR(product[entry], expected[entry], tolerance);
      }
    }
    ++trial;
  }
}

TEST(PropagationBackend, SaysWhatItNeeds) {
  const auto plain = make_problem(Space{2}, Space{2}, [](Values w, MutableValues y) { y[0] = w[0]; });
  EXPECT_THROW(make_propagation_backend(*plain), UsageError);
}

}  // namespace
}  // namespace anesi
