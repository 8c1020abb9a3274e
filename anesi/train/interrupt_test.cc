#include "anesi/core/interrupt.h"

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <thread>

#include "anesi/logic/circuit.h"
#include "anesi/logic/random_formula.h"
#include "anesi/logic/sat.h"
#include "anesi/models/markov_inference.h"
#include "anesi/predict/soft_count.h"
#include "anesi/train/formula_training.h"

namespace anesi {
namespace {

struct Interrupted : std::exception {};

// Asks to end after so many seconds, and returns how many passed until the call ended.
template <typename Call>
double seconds_until_interrupted(double after, Call call) {
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  const InterruptCheck check([&] {
    if (passed() > after) throw Interrupted();
  });
  EXPECT_THROW(call(), Interrupted);
  return passed();
}

TEST(Interrupt, IsAskedOnItsThreadWhileItLives) {
  check_interrupt();
  int outer = 0, inner = 0;
  {
    const InterruptCheck first([&] { ++outer; });
    {
      const InterruptCheck second([&] { ++inner; });
      check_interrupt();
      check_interrupt();  // a moment later
      std::thread([] { check_interrupt(); }).join();
    }
    EXPECT_EQ(outer, 0);
    EXPECT_EQ(inner, 1);
    check_interrupt();
  }
  check_interrupt();
  EXPECT_EQ(outer, 1);
}

TEST(Interrupt, EndsCompiling) {
  std::mt19937_64 random(1);
  const auto formula = random_formula(150, 450, 3, random);
  for (const auto after : {0.0, 0.5, 2.0}) {
    const auto seconds =
        seconds_until_interrupted(after, [&] { Circuit::compile(formula.variables(), formula.clauses(), 600); });
    EXPECT_LT(seconds, after + 5);
  }
  // Others compile as before.
  EXPECT_EQ(Circuit::compile(2, {{1, 2}}, 5).models(), 3);
}

TEST(Interrupt, EndsSolving) {
  std::vector<std::vector<int>> clauses;  // eleven pigeons in ten holes
  constexpr int kHoles = 10;
  const auto in = [](int pigeon, int hole) { return pigeon * kHoles + hole + 1; };
  for (int pigeon = 0; pigeon <= kHoles; ++pigeon) {
    auto& somewhere = clauses.emplace_back();
    for (int hole = 0; hole < kHoles; ++hole) somewhere.push_back(in(pigeon, hole));
    for (int other = 0; other < pigeon; ++other) {
      for (int hole = 0; hole < kHoles; ++hole) clauses.push_back({-in(pigeon, hole), -in(other, hole)});
    }
  }
  const SatSolvers solvers(clauses);
  EXPECT_LT(seconds_until_interrupted(0.3, [&] { static_cast<void>(solvers.satisfiable()); }), 5);
}

TEST(Interrupt, EndsTrainingOnFormulas) {
  const auto logic = std::make_shared<const MarkovInference>(parse_wcnf("h 1 -2 0\n1.5 2 3 0\n-0.8 3 4 0\n", "f"));
  const auto seconds = seconds_until_interrupted(
      0.5, [&] { train_on_soft_formulas(soft_network(), weights_of_one_formula(logic), {.steps = 1000000}, 1); });
  EXPECT_LT(seconds, 5);
}

}  // namespace
}  // namespace anesi
