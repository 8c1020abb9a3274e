// From a function that nobody described to exact answers: what is discovered, beside brute force over all worlds.
#include <gtest/gtest.h>

#include <cmath>

#include "anesi/core/known_variables.h"
#include "anesi/discover/discover.h"
#include "anesi/exact/automaton_backend.h"
#include "anesi/search/most_probable_worlds.h"
#include "anesi/testing/backend_oracle.h"
#include "anesi/testing/random_seed.h"
#include "anesi/testing/search_cases.h"

namespace anesi {
namespace {

// Log-probabilities, gradients, most probable worlds, samples, entropies: all that a back end answers.
void expect_found_and_exact(const Problem& problem, std::uint64_t seed) {
  const auto found = discover(problem, {}, seed);
  ASSERT_TRUE(found.automaton) << found.reason;
  toys::expect_exact(*make_automaton_backend(found.automaton), problem, seed);
}

// The lambda is all that is told.
TEST(DiscoveredInference, IsThatOfTheFunction) {
  const toys::RandomSeed seed;
  expect_found_and_exact(*toys::uneven(), seed);
  expect_found_and_exact(
      *make_problem(Space::uniform(4, 5), Space{7},
                    [](Values w, MutableValues y) { y[0] = (w[0] + 2 * w[1] + 3 * w[2] + w[3]) % 7; }),
      seed);
  expect_found_and_exact(*make_problem(Space{6, 6, 6}, Space{6, 6, 2},
                                       [](Values w, MutableValues y) {
                                         y[0] = std::max({w[0], w[1], w[2]});
                                         y[1] = std::min({w[0], w[1], w[2]});
                                         y[2] = w[0] > w[2] ? 1 : 0;
                                       }),
                         seed);
}

TEST(DiscoveredInference, IsThatOfRandomFunctions) {
  const toys::RandomSeed seed;
  int served = 0;
  for (std::uint64_t index = 0; index < 40; ++index) {
    SCOPED_TRACE("function " + std::to_string(index));
    toys::Chances chances(seed + index);
    const auto problem = index % 2 == 0 ? toys::random_function(chances) : toys::random_tables(chances, false);
    const auto outputs = apply(*problem, all_points(problem->worlds()));
    if (std::ranges::count(outputs.values(), kNone) > 0) continue;  // no automaton says that outputs end
    ++served;
    expect_found_and_exact(*problem, seed + index);
  }
  EXPECT_GT(served, 10);
}

// What inputs tell is a part of the world like any other, only that it is believed for certain: here a remainder, and
// which of two digits comes first.
TEST(DiscoveredInference, ServesExtraInputs) {
  const auto difference = make_problem(Space{10, 2, 10, 3}, Space{9, 3}, [](Values w, MutableValues y) {
    const auto first = w[1] == 0 ? w[0] : w[2], second = w[1] == 0 ? w[2] : w[0];
    y[0] = (first + 2 * second) % 9;
    y[1] = (first + w[3]) % 3;
  });
  const auto problem = with(difference, KnownVariables{{1, 3}, [](Random& random, MutableValues values) {
                                                         values[0] = static_cast<std::int64_t>(random.below(2));
                                                         values[1] = static_cast<std::int64_t>(random.below(3));
                                                       }});
  const auto found = discover(*problem);
  ASSERT_TRUE(found.automaton) << found.reason;
  EXPECT_EQ(found.automaton->run(all_points(problem->worlds())), apply(*problem, all_points(problem->worlds())));
  const auto backend = make_automaton_backend(found.automaton);
  const auto& known = *problem->facts().find<KnownVariables>();
  const auto solved = with(problem, found.automaton);

  const toys::RandomSeed seed;
  Random random(seed);
  constexpr std::int64_t kRows = 6;
  auto believed = toys::Believed::at_random(kRows, problem->worlds(), 3, random);
  Points told(kRows, 2);
  for (std::int64_t row = 0; row < kRows; ++row) known.draw(random, told[row]);
  believed.for_each([&](std::int64_t row, std::int64_t variable, std::int64_t value, double& log) {
    const auto place = std::ranges::find(known.variables, variable) - known.variables.begin();
    if (place < 2) log = value == told[row][as_size(place)] ? 0 : kLogOfZero;
  });
  const auto outputs = toys::random_outputs(kRows, *problem, random);
  std::vector<double> log_probs(kRows);
  backend->log_prob({believed.rows(), outputs}, log_probs);
  for (std::int64_t row = 0; row < kRows; ++row) {
    std::vector<double> logs;
    for (std::int64_t one = 0; one < 10; ++one) {
      for (std::int64_t other = 0; other < 10; ++other) {
        const std::vector<std::int64_t> world{one, told[row][0], other, told[row][1]};
        if (toys::agrees(apply_to(*problem, world), outputs[row])) logs.push_back(believed.log_prob(row, world));
      }
    }
    const double expected = log_sum(logs);
    if (std::isinf(expected)) {
      EXPECT_EQ(log_probs[as_size(row)], expected);
    } else {
      EXPECT_NEAR(log_probs[as_size(row)], expected, 1e-9 * (1 + std::abs(expected)));
    }
  }
  toys::expect_worlds_give(*solved, most_probable_worlds(*solved, {believed.rows(), outputs}), believed, outputs);
}

}  // namespace
}  // namespace anesi
