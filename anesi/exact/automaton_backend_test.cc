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
