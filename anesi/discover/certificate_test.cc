// Whether certificates hold as often as they say, for functions of all kinds: what discovery is worth.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <numeric>
#include <random>

#include "anesi/core/index.h"
#include "anesi/discover/discover.h"
#include "anesi/models/automaton_inference.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/random.h"

namespace anesi {
namespace {

// Deterministic functions drawn at random.
class RandomFunctions {
 public:
  explicit RandomFunctions(std::uint64_t seed) : random_(seed) {}

  std::shared_ptr<const Problem> draw() {
    const auto variables = below(8) + 7, domain = below(3) + 2;
    switch (below(4)) {
      case 0:
        return automaton(variables, domain);
      case 1:
        return formula(variables + 4);
      case 2:
        return hash(variables, domain);
      default:
        return almost_simple(below(4) + 9);
    }
  }

 private:
  std::int64_t below(std::int64_t size) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(size));
  }

  // Of 2 to 50 states; the output is a class of the last one.
  std::shared_ptr<const Problem> automaton(std::int64_t variables, std::int64_t domain) {
    const auto states = below(49) + 2, classes = below(4) + 2;
    std::vector<std::int64_t> next(as_size(states * domain)), answer(as_size(states)), order(as_size(variables));
    for (auto& state : next) state = below(states);
    for (auto& value : answer) value = below(classes);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random_);
    return make_problem(Space::uniform(variables, domain), Space{classes}, [=](Values world, MutableValues output) {
      std::int64_t state = 0;
      for (const auto variable : order) state = next[as_size(state * domain + world[as_size(variable)])];
      output[0] = answer[as_size(state)];
    });
  }

  // Whether clauses of three literals all hold; few worlds satisfy them.
  std::shared_ptr<const Problem> formula(std::int64_t variables) {
    std::vector<std::array<std::int64_t, 3>> clauses(as_size(below(2 * variables) + 2));
    for (auto& clause : clauses) {
      for (auto& literal : clause) literal = (below(variables) + 1) * (below(2) == 0 ? 1 : -1);
    }
    return make_problem(Space::uniform(variables, 2), Space{2}, [clauses](Values world, MutableValues output) {
      output[0] = std::ranges::all_of(clauses, [&](const auto& clause) {
        return std::ranges::any_of(
            clause, [&](auto literal) { return (world[as_size(std::abs(literal) - 1)] == 1) == (literal > 0); });
      });
    });
  }

  std::shared_ptr<const Problem> hash(std::int64_t variables, std::int64_t domain) {
    const auto key = random_();
    return make_problem(Space::uniform(variables, domain), Space{3}, [key](Values world, MutableValues output) {
      auto mixed = key;
      for (const auto value : world) {
        mixed = (mixed ^ static_cast<std::uint64_t>(value)) * 0xff51afd7ed558ccdU;
        mixed ^= mixed >> 33U;
      }
      output[0] = static_cast<std::int64_t>(mixed % 3);
    });
  }

  // A sum modulo a small number, but for a few values of the first variables, from one world in a hundred to one in a
  // million.
  std::shared_ptr<const Problem> almost_simple(std::int64_t variables) {
    const auto modulus = below(5) + 2, rare = below(5) + 2;
    std::vector<std::int64_t> key(as_size(rare));
    for (auto& value : key) value = below(10);
    return make_problem(Space::uniform(variables, 10), Space{modulus}, [=](Values world, MutableValues output) {
      const auto sum = std::accumulate(world.begin(), world.end(), std::int64_t{0});
      const bool exception = std::equal(key.begin(), key.end(), world.begin());
      output[0] = (sum + (exception ? 1 : 0)) % modulus;
    });
  }

  std::mt19937_64 random_;
};

TEST(CertificateSlow, HoldsAsOftenAsItSays) {
  constexpr int kFunctions = 200;
  constexpr std::int64_t kWorlds = 1'000'000, kAtOnce = 50'000;
  const toys::RandomSeed seed;
  RandomFunctions functions(seed);
  DiscoverOptions options;
  options.limits.states = 512;
  options.limits.calls = 3'000'000;
  options.distance = 0.05;  // what is only nearly right is certified too, and must be covered
  int found = 0, inexact = 0, broken = 0;
  for (int index = 0; index < kFunctions; ++index) {
    const auto problem = functions.draw();
    const auto discovery = discover(*problem, options, seed + static_cast<std::uint64_t>(index));
    if (!discovery.automaton) continue;
    ++found;
    const auto generator = seeded(seed + 1'000'003 * static_cast<std::uint64_t>(index + 1));
    std::int64_t differing = 0;
    for (std::int64_t done = 0; done < kWorlds; done += kAtOnce) {
      const auto worlds = mixed_worlds(problem->worlds(), kAtOnce, generator);
      differing +=
          (outputs_of(*discovery.automaton, worlds) != apply(*problem, worlds)).any(1).sum().item<std::int64_t>();
    }
    const double distance = static_cast<double>(differing) / static_cast<double>(kWorlds);
    inexact += differing > 0;
    broken += distance > discovery.certificate->bound;
  }
  std::cout << found << " of " << kFunctions << " functions have a memory; " << inexact << " of them differ from c, "
            << broken << " by more than their certificate says\n";
  EXPECT_GT(found, kFunctions / 4);
  // One in twenty may; more than that by three standard deviations would be a lie.
  EXPECT_LE(broken, 0.05 * found + 3 * std::sqrt(0.05 * 0.95 * found));
}

}  // namespace
}  // namespace anesi
