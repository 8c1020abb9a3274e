#include "anesi/discover/exact.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/io/files.h"
#include "anesi/testing/oracle.h"
#include "anesi/testing/random_problems.h"
#include "anesi/testing/random_seed.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

std::shared_ptr<const Problem> sum_of_two() {
  return make_problem({10, 10}, {19}, [](Values w, MutableValues y) { y[0] = w[0] + w[1]; });
}

// Two digits: 3 or 4, and 5 or 9.
std::vector<float> doubtful_digits() {
  std::vector<float> probabilities(20, 0);
  probabilities[3] = 0.75F;
  probabilities[4] = 0.25F;
  probabilities[10 + 5] = 0.5F;
  probabilities[10 + 9] = 0.5F;
  return probabilities;
}

TEST(Exact, AnswersFromAPlainArray) {
  const Exact sum(sum_of_two());
  EXPECT_EQ(sum.method(), "enumerate");
  const Beliefs beliefs(doubtful_digits(), sum.worlds());
  std::vector<std::pair<std::int64_t, double>> predicted;
  for (const auto& [output, probability] : sum.predict(beliefs, 9)[0]) predicted.emplace_back(output[0], probability);
  ASSERT_EQ(predicted.size(), 4U);
  EXPECT_NEAR(predicted[0].second, 0.375, 1e-9);
  EXPECT_NEAR(predicted[3].second, 0.125, 1e-9);
  const auto why = sum.explain(beliefs, {{9}}, 5)[0];
  ASSERT_EQ(why.size(), 1U);
  EXPECT_EQ(why[0].values, (std::vector<std::int64_t>{4, 5}));
  EXPECT_NEAR(why[0].probability, 1, 1e-9);
  EXPECT_NEAR(std::exp(sum.log_prob(beliefs, {.outputs = Points{{8}}})[0]), 0.375, 1e-9);
  EXPECT_NEAR(sum.marginals(beliefs, {{9}})[4], 1, 1e-9);
  Random random(1);
  EXPECT_EQ(sum.sample(beliefs, {{9}}, random), (Points{{4, 5}}));
  EXPECT_THROW(sum.sample(beliefs, {{0}}, random), Error);
}

TEST(Exact, RefusesWhatIsNoBelief) {
  const auto worlds = sum_of_two()->worlds();
  EXPECT_THROW(Beliefs(std::vector<float>(19, 0.1F), worlds), Error);
  EXPECT_THROW(Beliefs(std::vector<double>(20, -0.1), worlds), Error);
  EXPECT_THROW(Beliefs(std::vector<double>(20, std::nan("")), worlds), Error);
  EXPECT_THROW(Beliefs::of_logits(std::vector<double>(20, kLogOfZero), worlds), Error);
  EXPECT_EQ(Beliefs(std::vector<double>(), worlds).size(), 0);
}

TEST(Exact, LogitsMayBeFarApart) {
  const Exact sum(sum_of_two());
  std::vector<double> logits(20, 0);
  logits[3] = logits[10 + 5] = 1000;
  const auto beliefs = Beliefs::of_logits(std::span<const double>(logits), sum.worlds());
  EXPECT_EQ(sum.predict(beliefs)[0][0].values[0], 8);
  EXPECT_NEAR(sum.log_prob(beliefs, {.outputs = Points{{0}}})[0], -2000, 1e-9);
}

TEST(Exact, DiscoversWhatIsNotDeclared) {
  // Eight decimal digits: is the number divisible by 7? Too many worlds to enumerate.
  const auto divisible = make_problem(Space::uniform(8, 10), {2}, [](Values digits, MutableValues y) {
    std::int64_t number = 0;
    for (const auto digit : digits) number = 10 * number + digit;
    y[0] = number % 7 == 0 ? 1 : 0;
  });
  const Exact exact(divisible);
  EXPECT_EQ(exact.method(), "automaton");
  ASSERT_TRUE(exact.certificate().has_value());
  EXPECT_EQ(exact.certificate()->differing, 0);
  const std::vector<double> even(80, 0.1);
  const auto beliefs = Beliefs(even, exact.worlds());
  EXPECT_NEAR(exact.log_prob(beliefs, {.outputs = Points{{1}}})[0], std::log(14285715 / 1e8), 1e-12);
}

TEST(Exact, SavedItNeedsNoFunction) {
  const toys::RandomSeed seed;
  const TemporaryDirectory folder;
  const auto file = folder.path() / "function.anesi";
  for (int index = 0; index < 40; ++index) {
    toys::Chances chances(seed + 1'000'003 * static_cast<std::uint64_t>(index));
    const auto [kind, problem] = toys::random_problem(chances);
    for (const auto& [name, entry] : backends().all()) {
      if (entry.is_approximate || name == "fragile" || !entry.applies(*problem, {.method = name})) continue;
      SCOPED_TRACE(testing::Message() << "problem " << index << ", " << kind << " by " << name);
      const Exact exact(problem, {.method = name});
      exact.save(file);
      const auto loaded = Exact::load(file);
      EXPECT_EQ(loaded.method(), name);
      EXPECT_EQ(loaded.worlds(), exact.worlds());
      std::vector<double> logits;
      for (std::int64_t place = 0; place < 3 * problem->worlds().variables() * problem->worlds().largest_domain();
           ++place) {
        logits.push_back(chances.normal());
      }
      const auto beliefs = Beliefs::of_logits(std::span<const double>(logits), problem->worlds());
      const auto one = exact.predict(beliefs, 3), other = loaded.predict(beliefs, 3);
      for (std::int64_t row = 0; row < 3; ++row) {
        ASSERT_EQ(one[row].size(), other[row].size());
        for (std::size_t place = 0; place < one[row].size(); ++place) {
          EXPECT_NEAR(one[row][place].probability, other[row][place].probability, 1e-12);
        }
      }
      problem->worlds().for_each_point(
          [&](Values world) { EXPECT_EQ(apply_to(loaded.problem(), world), apply_to(*problem, world)); });
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(Exact, DamagedFilesAreRefused) {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "sum.anesi";
  EXPECT_THROW(Exact::load(file), Error);
  Exact(sum_of_two()).save(file);
  const auto length = std::filesystem::file_size(file);
  std::filesystem::resize_file(file, length - 8);
  EXPECT_THROW(Exact::load(file), Error);
}

}  // namespace
}  // namespace anesi
