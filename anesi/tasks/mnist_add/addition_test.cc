#include "anesi/builtin/addition.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "anesi/check/model_check.h"
#include "anesi/discover/problem_check.h"
#include "anesi/exact/automaton.h"
#include "anesi/losses/amortized.h"
#include "anesi/models/exact_model.h"
#include "anesi/models/transducer.h"
#include "anesi/priors/certain.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/random.h"

namespace anesi {
namespace {

std::int64_t number(Values digits) {
  std::int64_t value = 0;
  for (const auto digit : digits) value = 10 * value + digit;
  return value;
}

TEST(Addition, EqualsIntegersOnEveryWorldOfTwoDigits) {
  const Addition addition(2);
  addition.worlds().for_each_point([&](Values world) {
    const auto sum = apply_to(addition, world);
    ASSERT_EQ(number(sum), number(world.subspan(0, 2)) + number(world.subspan(2, 2)));
  });
}

TEST(Addition, CarriesThroughAThousandDigits) {
  const Addition addition(1000);
  std::vector<std::int64_t> world(2000, 0);
  std::fill(world.begin(), world.begin() + 1000, 9);
  world.back() = 1;
  std::vector<std::int64_t> expected(1001, 0);
  expected[0] = 1;
  EXPECT_EQ(apply_to(addition, world), expected);
}

TEST(Addition, EqualsIntegersOnRandomWorldsOfFifteenDigits) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const Addition addition(15);
  std::uniform_int_distribution<std::int64_t> digit(0, 9);
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<std::int64_t> world(30);
    for (auto& value : world) value = digit(random);
    const Values all(world);
    ASSERT_EQ(number(apply_to(addition, all)), number(all.subspan(0, 15)) + number(all.subspan(15, 15)));
  }
}

// Whatever it tells of itself is true of it: its reading order, automaton, formula and pruner.
TEST(Addition, PassesTheDoctor) {
  for (const std::int64_t digits : {1, 2, 40}) {
    const auto findings = check_problem(Addition(digits));
    EXPECT_GE(findings.size(), 6U);
    for (const auto& finding : findings) EXPECT_TRUE(finding.good) << finding.name << ": " << finding.words;
    EXPECT_EQ(pruner_exact(findings), true);
  }
}

// Mean total variation between q and the exact distribution, by enumeration, over Dirichlet(0.2) beliefs.
double total_variation(SequenceModel& model, const Addition& addition, std::int64_t beliefs) {
  const auto sampled = FixedDirichlet(addition.worlds(), 0.2).sample(beliefs, seeded(17));
  return total_variations(model, addition.outputs(), *make_exact(addition, {.method = "enumerate"}), sampled)
      .mean()
      .item<double>();
}

// The default preset's q at fifteen digits: its weights serve every size.
TEST(AdditionSlow, TransducerOfTheDefaultPresetIsNearlyExact) {
  torch::manual_seed(1);
  const auto problem = std::make_shared<Addition>(15);
  const auto& large = *problem;
  auto model = std::make_shared<Transducer>(large.outputs(), reading_order_of(large), TransducerOptions{});
  constexpr std::int64_t kSteps = 2000;
  const Schedule schedule{.lr = 0.05, .shape = Shape::kCosine};
  AmortizedOptions options;
  options.samples = 64;
  AmortizedLoss loss(problem, {model, nullptr}, std::make_unique<CertainBeliefs>(large.worlds()), options, seeded(1));
  for (std::int64_t step = 0; step < kSteps; ++step) loss.update(schedule.at(step, kSteps));
  for (const std::int64_t digits : {1, 2}) {
    const Addition small(digits);
    Transducer same(small.outputs(), reading_order_of(small), TransducerOptions{});
    {
      const torch::NoGradGuard no_gradients;
      auto source = model->named_parameters();
      for (auto& item : same.named_parameters()) item.value().copy_(source[item.key()]);
    }
    const auto distance = total_variation(same, small, digits == 1 ? 500 : 100);
    RecordProperty("total_variation_" + std::to_string(digits), std::to_string(distance));
    EXPECT_LE(distance, 0.005) << "N=" << digits;
  }

  // Perception cannot exploit this q: the truth costs far less than every degenerate belief.
  const torch::NoGradGuard no_gradients;
  const auto worlds = torch::randint(10, {200, 30}, torch::kInt64);
  const auto outputs = apply(large, worlds);
  const auto cost = [&](const torch::Tensor& beliefs) { return loss.loss(beliefs, outputs).item<double>(); };
  const auto truth = cost(certain_beliefs(worlds, large.worlds()));
  EXPECT_LT(truth, 0.1);
  EXPECT_GT(cost(uniform_beliefs(200, large.worlds())), truth + 10);
  EXPECT_GT(cost(certain_beliefs(9 - worlds, large.worlds())), truth + 10) << "renamed backwards";
  for (std::int64_t digit = 0; digit < 10; ++digit) {
    EXPECT_GT(cost(certain_beliefs(torch::full_like(worlds, digit), large.worlds())), truth + 10) << "all " << digit;
    if (digit == 0) continue;
    const auto renamed = (worlds + digit).remainder(10);
    EXPECT_GT(cost(certain_beliefs(renamed, large.worlds())), truth + 10) << "renamed by " << digit;
  }
}

}  // namespace
}  // namespace anesi
