// Labels from logits beside the same from logarithms of beliefs that were normalised by hand.
#include "anesi/exact/logits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/exact/backends.h"

namespace anesi {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The first of three variables is given: a number from 0 to 4, while the others have 3 and 2 values.
struct Case {
  std::shared_ptr<const Problem> problem =
      make_problem({5, 3, 2}, {10}, [](Values w, MutableValues y) { y[0] = w[0] + w[1] * w[2] + w[2]; });
  std::shared_ptr<const Backend> backend = make_backend("enumerate", *problem);
  std::int64_t size, width = 4;  // one more than anything needs
  std::vector<double> logits;
  Points given, outputs, worlds;

  Case(std::int64_t rows, double gap, std::uint64_t seed)
      : size(rows), given(rows, 1), outputs(rows, 1), worlds(rows, 2, kUnset) {
    Random random(seed);
    for (std::int64_t row = 0; row < size; ++row) {
      for (std::int64_t place = 0; place < 2 * width; ++place) logits.push_back(random.normal());
      logits[as_size(row * 2 * width) + random.below(3)] += gap;
      logits[as_size(row * 2 * width + 3)] = std::numeric_limits<double>::quiet_NaN();  // past the domain
      const auto told = static_cast<std::int64_t>(random.below(5)), one = static_cast<std::int64_t>(random.below(3)),
                 two = static_cast<std::int64_t>(random.below(2));
      given[row][0] = told;
      outputs[row][0] = apply_to(*problem, std::vector{told, one, two})[0];
      if (row % 3 == 1) worlds[row][0] = one;
    }
  }

  LogitRows<double> rows() const { return {.logits = {logits.data(), size, 2, width}, .given = given}; }
  LabelRows labels() const { return {.outputs = outputs, .worlds = worlds}; }

  std::vector<double> log_probs(const std::vector<double>& of_logits) const {
    std::vector<double> logs(as_size(size * 15), kLogOfZero), found(as_size(size));
    Points known(size, 3, kUnset);
    for (std::int64_t row = 0; row < size; ++row) {
      auto* const log = logs.data() + row * 15;
      log[given[row][0]] = 0;
      known[row][0] = worlds[row][0] == kUnset ? kUnset : given[row][0];
      known[row][1] = worlds[row][0];
      for (std::int64_t variable = 1; variable < 3; ++variable) {
        const auto domain = problem->worlds().domain(variable);
        const auto* const in = of_logits.data() + (row * 2 + variable - 1) * width;
        for (std::int64_t value = 0; value < domain; ++value) {
          log[variable * 5 + value] = in[value] - log_sum({in, as_size(domain)});
        }
      }
    }
    label_log_prob(*backend, LogBeliefRows(logs.data(), size, 3, 5), {.outputs = outputs, .worlds = known}, found);
    return found;
  }
};

TEST(Logits, AreBeliefsAndTheirGradientIsThatByLogits) {
  for (const double gap : {0.0, 30.0, 1000.0}) {
    const Case batch(30, gap, 1);
    std::vector<double> found(30), gradient(as_size(30 * 2 * batch.width));
    label_log_prob<double>(*batch.backend, batch.rows(), batch.labels(), found, {gradient.data(), 30, 2, batch.width});
    const auto expected = batch.log_probs(batch.logits);
    for (std::size_t row = 0; row < 30; ++row) {
      if (expected[row] == kLogOfZero) {
        EXPECT_EQ(found[row], kLogOfZero);
      } else {
        EXPECT_NEAR(found[row], expected[row], 1e-9 * (1 + std::abs(expected[row])));
      }
    }
    for (std::int64_t place = 0; place < 2 * batch.width; ++place) {
      const bool is_value = place % batch.width < (place < batch.width ? 3 : 2);
      auto more = batch.logits, less = batch.logits;
      constexpr double kStep = 1e-5;
      for (std::int64_t row = 0; row < 30; ++row) {
        more[as_size(row * 2 * batch.width + place)] += kStep;
        less[as_size(row * 2 * batch.width + place)] -= kStep;
      }
      const auto above = batch.log_probs(more), below = batch.log_probs(less);
      for (std::size_t row = 0; row < 30; ++row) {
        const auto slope = gradient[row * 2 * as_size(batch.width) + as_size(place)];
        const bool counts = is_value && expected[row] != kLogOfZero;
        EXPECT_NEAR(slope, counts ? (above[row] - below[row]) / (2 * kStep) : 0, 1e-4) << row << ", " << place;
      }
    }
  }
}

TEST(Logits, OfManyRowsAreThoseOfEachRow) {
  const Case batch(20000, 5, 2);  // more than are worked on at once
  std::vector<double> found(20000), one(1);
  label_log_prob<double>(*batch.backend, batch.rows(), batch.labels(), found);
  const ThreadLimit limit(1);
  for (const std::int64_t row : {0, 9999, 17000, 19999}) {
    const auto all = batch.rows();
    label_log_prob<double>(
        *batch.backend, {.logits = all.logits.slice(row, row + 1), .given = all.given.slice(row, row + 1)},
        {.outputs = batch.outputs.rows().slice(row, row + 1), .worlds = batch.worlds.rows().slice(row, row + 1)}, one);
    EXPECT_EQ(one[0], found[as_size(row)]);
  }
}

TEST(Logits, ThatAreNoNumbersAreNamed) {
  for (const double wrong : {kInfinite, std::numeric_limits<double>::quiet_NaN()}) {
    Case batch(4, 0, 3);
    batch.logits[as_size(2 * 2 * batch.width + batch.width + 1)] = wrong;
    std::vector<double> found(4);
    try {
      label_log_prob<double>(*batch.backend, batch.rows(), batch.labels(), found);
      FAIL();
    } catch (const UsageError& error) {
      EXPECT_STREQ(error.what(), "logits: example 2, variable 1: not a number or infinite");
    }
  }
  Case batch(4, 0, 3);
  batch.logits[0] = -kInfinite;  // an impossible value is none of those
  std::vector<double> found(4);
  label_log_prob<double>(*batch.backend, batch.rows(), batch.labels(), found);
  EXPECT_FALSE(std::isnan(found[0]));
  batch.given[1][0] = 5;
  EXPECT_THROW(label_log_prob<double>(*batch.backend, batch.rows(), batch.labels(), found), UsageError);
}

}  // namespace
}  // namespace anesi
