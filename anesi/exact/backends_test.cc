// Every registered back end beside brute force, on random problems of every kind that some back end serves.
#include "anesi/exact/backends.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/testing/backend_oracle.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random_machine.h"
#include "anesi/testing/random_seed.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

// ANESI_PROBLEMS asks for another number.
int wanted(int problems) {
  const char* const other = std::getenv("ANESI_PROBLEMS");
  return other != nullptr ? std::atoi(other) : problems;
}

void compare_with_brute_force(int problems) {
  const toys::RandomSeed seed;
  std::map<std::string, int> compared;
  for (int index = 0; index < problems; ++index) {
    toys::Chances chances(seed + 1'000'003 * static_cast<std::uint64_t>(index));
    const auto [kind, problem] = toys::random_problem(chances);
    for (const auto& [name, entry] : backends().all()) {
      const ExactOptions options{.method = name};
      if (entry.is_approximate || !entry.applies(*problem, options)) continue;
      const auto backend = make_backend(*problem, options);
      if (!backend->is_exact()) continue;
      SCOPED_TRACE(testing::Message() << "problem " << index << ", " << kind << " by " << name);
      toys::expect_exact(*backend, *problem, static_cast<std::uint64_t>(chances.between(0, 1 << 30)));
      ++compared[kind + " by " + name];
      if (testing::Test::HasFailure()) return;
    }
  }
  for (const auto& [what, times] : compared) std::cout << times << " " << what << "\n";
}

TEST(Backends, AreExact) { compare_with_brute_force(wanted(200)); }

TEST(BackendsSlow, AreExact) { compare_with_brute_force(wanted(1800)); }

TEST(Backends, LargeBatchesAreAnsweredRowByRow) {
  const toys::RandomSeed seed;
  const toys::Addition addition(2);
  for (const auto* const name : {"automaton", "circuit", "enumerate"}) {
    SCOPED_TRACE(name);
    toys::BackendOracle(*make_backend(name, addition), addition, seed).expect_rows_apart(1000);
  }
}

// Beliefs need not be normalised. What violates a constraint is what is left of all worlds, and where that is little,
// second derivatives need its last digits.
TEST(Backends, LargeLogarithmsOfBeliefsCostNoDigits) {
  const auto problem = toys::small_formula();
  const auto& worlds = problem->worlds();
  Points world(1, worlds.variables()), violated(1, 1);
  worlds.for_each_point([&](Values point) {
    if (apply_to(*problem, point)[0] == 1) std::ranges::copy(point, world[0].begin());
  });
  constexpr double kUnlikely = 1e-4;
  const auto hessian_product = [&](const char* name, double more) {
    std::vector<double> logs, direction, result(12);
    for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
      for (std::int64_t value = 0; value < 3; ++value) {
        const bool is_likely = value == world[0][as_size(variable)];
        const auto others = static_cast<double>(worlds.domain(variable) - 1);
        logs.push_back(more + std::log(is_likely ? 1 - kUnlikely : kUnlikely / others));
        direction.push_back(static_cast<double>(direction.size() % 5) - 2);
      }
    }
    make_backend(name, *problem)
        ->hessian_product({{logs.data(), 1, 4, 3}, violated}, {direction.data(), 1, 4, 3}, {result.data(), 1, 4, 3});
    return result;
  };
  const auto expected = hessian_product("enumerate", 0), found = hessian_product("circuit", 800);
  for (std::size_t place = 0; place < expected.size(); ++place) EXPECT_NEAR(found[place], expected[place], 5e-11);
}

TEST(Backends, TheCheapestIsChosen) {
  const auto few = make_problem({2, 2}, {2}, [](Values w, MutableValues y) { y[0] = w[0]; });
  EXPECT_EQ(choose_backend(*few).name, "enumerate");
  EXPECT_THROW(choose_backend(*few, {.method = "abacus"}), UsageError);
  EXPECT_EQ(choose_backend(*few, {.method = "automaton"}).backend, nullptr);
  const auto many = make_problem(Space::uniform(40, 10), {2}, [](Values, MutableValues y) { y[0] = 0; });
  EXPECT_EQ(choose_backend(*many).backend, nullptr);
  EXPECT_THROW(make_backend(*many), Error);
  EXPECT_EQ(choose_backend(*few, {.gigabytes = 1e-9}).backend, nullptr);
}

// A back end that promises what it does not keep.
struct Fragile {};
[[maybe_unused]] const bool registered = backends().add(
    "fragile",
    {.summary = "for tests",
     .applies =
         [](const Problem& problem, const ExactOptions&) {
           return problem.facts().find<Fragile>() != nullptr ? std::optional(BackendCost()) : std::nullopt;
         },
     .make = [](const Problem&, const ExactOptions&) -> std::unique_ptr<Backend> { throw Error("it broke"); }});

TEST(Backends, WhatCannotBeMadeIsPassedOver) {
  const auto problem = with(make_problem({2, 2}, {2}, [](Values w, MutableValues y) { y[0] = w[0]; }), Fragile());
  const auto chosen = choose_backend(*problem);
  EXPECT_EQ(chosen.name, "enumerate");
  EXPECT_TRUE(toys::names(chosen.why_not, {"it broke"}));
  EXPECT_THROW(make_backend("fragile", *problem), Error);
}

}  // namespace
}  // namespace anesi
