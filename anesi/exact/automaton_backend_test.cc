#include "anesi/exact/automaton_backend.h"

#include <gtest/gtest.h>

#include "anesi/testing/backend_oracle.h"
#include "anesi/testing/random_machine.h"
#include "anesi/testing/random_seed.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

std::unique_ptr<Backend> backend_of(const Problem& problem) {
  return make_automaton_backend(problem.facts().share<Automaton>());
}

TEST(AutomatonBackend, RandomMachinesAreExact) {
  const toys::RandomSeed seed;
  toys::Chances chances(seed);
  for (int round = 0; round < 200; ++round) {
    const toys::RandomMachine machine(static_cast<std::uint64_t>(chances.between(0, 1 << 30)));
    toys::expect_exact(*backend_of(machine), machine, static_cast<std::uint64_t>(chances.between(0, 1 << 30)));
    if (HasFailure()) FAIL() << "round " << round;
  }
}

// Steps that read two variables.
TEST(AutomatonBackend, AdditionIsExact) {
  const toys::RandomSeed seed;
  const toys::Addition addition(/*digits=*/2, /*base=*/4);
  toys::expect_exact(*backend_of(addition), addition, seed);
}

TEST(AutomatonBackend, RowsDoNotDependOnEachOther) {
  const toys::RandomSeed seed;
  for (int round = 0; round < 3; ++round) {
    const toys::RandomMachine machine(seed + static_cast<std::uint64_t>(round));
    toys::BackendOracle(*backend_of(machine), machine, seed).expect_rows_apart(1000);
  }
}

// One to three variables in a step, in any order, and outputs that are emitted in another order than theirs.
TEST(AutomatonBackend, StepsThatReadSeveralVariablesAreExact) {
  const toys::RandomSeed seed;
  toys::Chances chances(seed);
  const Space worlds{2, 3, 1, 2, 3, 2}, outputs{3, 4, 2};
  for (int round = 0; round < 20; ++round) {
    const ReadingOrder reading(worlds, outputs,
                               {{.reads = {4, 0, 2}, .emits = 1, .kind = 0},
                                {.reads = {1}, .emits = std::nullopt, .kind = 1},
                                {.reads = {5, 3}, .emits = 2, .kind = 2},
                                {.reads = {}, .emits = 0, .kind = 3}});
    std::vector<Automaton::Table> tables;
    std::int64_t states = 1;
    for (std::int64_t kind = 0; kind < 4; ++kind) {
      auto& table = tables.emplace_back(Automaton::Table{states, chances.between(1, 6), {}, {}});
      for (std::int64_t entry = 0; entry < states * reading.kind(kind).combinations(); ++entry) {
        table.emits.push_back(static_cast<std::int32_t>(chances.between(0, reading.kind(kind).emit_domain - 1)));
        table.next.push_back(static_cast<std::int32_t>(chances.between(0, table.next_states - 1)));
      }
      states = table.next_states;
    }
    const auto automaton = std::make_shared<const Automaton>(reading, tables);
    const auto problem = make_problem(worlds, outputs, [automaton](Values world, MutableValues output) {
      std::ranges::copy(automaton->run({world.data(), 1, std::ssize(world)})[0], output.begin());
    });
    toys::expect_exact(*make_automaton_backend(automaton), *problem, seed + static_cast<std::uint64_t>(round));
    if (HasFailure()) FAIL() << "round " << round;
  }
}

// A network that has diverged must not look as if it had not.
TEST(AutomatonBackend, WhatIsNoNumberStaysNone) {
  const toys::Addition addition(/*digits=*/1);
  std::vector<double> logs(20, -2.3), log_prob(1), gradient(logs.size());
  logs[13] = std::numeric_limits<double>::quiet_NaN();
  const Points output{{0, 7}};
  backend_of(addition)->log_prob({{logs.data(), 1, 2, 10}, output}, log_prob, {gradient.data(), 1, 2, 10});
  EXPECT_TRUE(std::isnan(log_prob[0]));
}

// Here p(y|P) is far below what 64 bits hold.
TEST(AutomatonBackend, LongSequencesDoNotUnderflow) {
  constexpr std::int64_t kDigits = 2000;
  const toys::Addition addition(kDigits);
  const auto backend = backend_of(addition);
  const auto variables = addition.worlds().variables();
  for (const double gap : {0.0, 1.0, 300.0, 1000.0}) {
    std::vector<double> logs(as_size(variables * 10), -gap), log_prob(1), gradient(logs.size());
    for (std::int64_t variable = 0; variable < variables; ++variable) logs[as_size(variable * 10 + variable % 10)] = 0;
    Points world(1, variables, 3), output(1, kDigits + 1);
    addition.apply(world, output);
    backend->log_prob({{logs.data(), 1, variables, 10}, output}, log_prob, {gradient.data(), 1, variables, 10});
    EXPECT_GT(log_prob[0], -2.0 * kDigits * gap - 10.0 * kDigits);
    for (std::int64_t variable = 0; variable < variables; ++variable) {
      double sum = 0;
      for (std::int64_t value = 0; value < 10; ++value) sum += gradient[as_size(variable * 10 + value)];
      EXPECT_NEAR(sum, 1, 1e-7) << "variable " << variable << " at a gap of " << gap;
    }
  }
}

}  // namespace
}  // namespace anesi
