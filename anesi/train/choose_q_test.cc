#include "anesi/train/choose_q.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <random>

#include "anesi/core/error.h"
#include "anesi/core/reading_order.h"
#include "anesi/core/variable_pairs.h"
#include "anesi/exact/found_facts.h"
#include "anesi/logic/random_formula.h"
#include "anesi/models/architecture.h"
#include "anesi/models/exact_model.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/toy_problems.h"
#include "anesi/train/knowledge.h"

namespace anesi {
namespace {

ChosenQ chosen_for(const std::shared_ptr<const Problem>& problem, const DiscoverOptions& options = {},
                   double seconds = 60) {
  return choose_q(problem, options, /*seed=*/1, [=](const Problem& of, const std::string& name) {
    if (name == kExactArchitecture) return make_exact_model(of, {.seconds = seconds});
    return make_model(of, name, /*explain=*/false, {"width=16"});
  });
}

TEST(ChooseQ, TakesWhatTheProblemTellsAndEnumeratesWhatIsSmall) {
  const auto told = chosen_for(std::make_shared<toys::Addition>(20));
  EXPECT_TRUE(told.is_exact());
  EXPECT_FALSE(told.discovery) << "nothing was asked";
  EXPECT_TRUE(chosen_for(toys::uneven()).is_exact());
}

// Few worlds are listed; c must still give the same output whenever it is asked.
TEST(ChooseQ, RefusesAFunctionThatGivesNowThisAndNowThat) {
  std::atomic<std::int64_t> calls = 0;
  for (const auto& worlds : {Space{2}, Space{3, 4}, Space::uniform(10, 2)}) {
    const auto unsteady = make_problem(worlds, Space{2}, [&](Values, MutableValues y) { y[0] = calls++ % 37 == 0; });
    EXPECT_THROW(make_exact(*unsteady), Error);
    Knowledge knowledge(unsteady);
    EXPECT_THROW(knowledge.learn_through_what_suits(), Error);
  }
}

TEST(ChooseQ, TakesAMemoryThatIsFound) {
  const auto problem = with_facts(std::make_shared<toys::Addition>(6), {});
  const auto found = chosen_for(problem);
  EXPECT_TRUE(found.is_exact());
  ASSERT_NE(found.problem->facts().find<Automaton>(), nullptr);
  EXPECT_NE(found.problem->facts().find<FoundFacts>(), nullptr);
  EXPECT_TRUE(toys::names(found.reason, {"11 states"}));
}

TEST(ChooseQ, TakesTablesOfPairs) {
  std::vector<VariablePair> pairs;
  for (std::int64_t one = 0; one < 12; ++one) {
    for (std::int64_t other = one + 1; other < 12; ++other) pairs.push_back({one, other});
  }
  const auto found = chosen_for(with_facts(std::make_shared<toys::PairsThatDiffer>(Space::uniform(12, 5), pairs), {}));
  EXPECT_EQ(found.architecture, "tables") << found.reason;
  EXPECT_EQ(found.problem->facts().find<VariablePairs>()->pairs, pairs);
}

TEST(ChooseQ, GoesOnWithANetworkWhereNothingIsFound) {
  const auto product =
      make_problem(Space::uniform(6, 10), Space::uniform(6, 10), [](Values world, MutableValues output) {
        auto value = (world[0] * 100 + world[1] * 10 + world[2]) * (world[3] * 100 + world[4] * 10 + world[5]);
        for (std::size_t place = 6; place-- > 0; value /= 10) output[place] = value % 10;
      });
  DiscoverOptions options;
  options.limits.states = 64;
  const auto found = chosen_for(product, options);
  EXPECT_TRUE(found.architecture == "scan" || found.architecture == "mlp") << found.reason;
  EXPECT_TRUE(toys::names(found.reason, {"64 states"}));
  EXPECT_NE(found.problem->facts().find<ReadingOrder>(), nullptr);
}

// A function of which a formula is told, and nothing besides; counts how often it is called.
std::shared_ptr<const Problem> with_formula(const std::shared_ptr<const Problem>& problem,
                                            const std::shared_ptr<const Cnf>& cnf, std::atomic<int>& calls) {
  auto counted = make_problem(problem->worlds(), problem->outputs(), [problem, &calls](Values w, MutableValues y) {
    ++calls;
    std::ranges::copy(apply_to(*problem, {w.begin(), w.end()}), y.begin());
  });
  return with_facts(counted, Facts().with(cnf));
}

TEST(ChooseQ, TakesTheFormulaThatIsToldBeforeCIsAsked) {
  const auto addition = std::make_shared<toys::Addition>(11, /*base=*/2);  // more worlds than are enumerated
  std::atomic<int> calls = 0;
  const auto chosen = chosen_for(with_formula(addition, addition->facts().share<Cnf>(), calls));
  EXPECT_TRUE(chosen.is_exact()) << chosen.reason;
  EXPECT_FALSE(chosen.discovery);
  EXPECT_EQ(calls, 0);
  ASSERT_TRUE(chosen.model) << "it would be compiled twice";
  const auto beliefs = uniform_beliefs(1, addition->worlds());
  const auto nought = torch::zeros({1, 12}, torch::kInt64);
  EXPECT_NEAR(chosen.model->prediction->log_prob(beliefs, nought).item<double>(), -22 * std::log(2), 1e-4);
}

// Whether the formula defines outputs, so that discovery goes on, or is a constraint: almost no world satisfies it, so
// that nobody finds out by asking, and messages along its clauses are better than nothing.
TEST(ChooseQ, AFormulaThatDoesNotCompileInTimeStopsNothing) {
  constexpr double kNoTime = 0.1;
  std::atomic<int> calls = 0;
  std::mt19937_64 random(1);
  const auto hard = std::make_shared<const Cnf>(random_formula(120, 300, 3, random));
  const auto constraint = make_problem(Space::uniform(120, 2), Space{2}, [](Values, MutableValues y) { y[0] = 0; });
  EXPECT_EQ(chosen_for(with_formula(constraint, hard, calls), {}, kNoTime).architecture, "graph");
  // Five digits and their sum, beside clauses that say nothing of them.
  const auto addition = std::make_shared<toys::Addition>(6);
  auto cnf = *addition->facts().find<Cnf>();
  const auto first = cnf.variables();
  for (int count = 0; count < hard->variables(); ++count) cnf.fresh_variable();
  for (auto clause : hard->clauses()) {
    for (auto& literal : clause) literal += literal > 0 ? first : -first;
    cnf.add(std::move(clause));
  }
  const auto told = with_formula(addition, std::make_shared<const Cnf>(std::move(cnf)), calls);
  const auto found = chosen_for(told, {}, kNoTime);
  EXPECT_TRUE(found.is_exact()) << found.reason;
  ASSERT_TRUE(found.discovery);
  EXPECT_NE(found.problem->facts().find<Automaton>(), nullptr) << found.reason;
}

}  // namespace
}  // namespace anesi
