#include "anesi/train/choose_q.h"

#include <gtest/gtest.h>

#include <numeric>

#include "anesi/exact/exact_model.h"
#include "anesi/exact/found_facts.h"
#include "anesi/models/architecture.h"
#include "anesi/models/reading_order.h"
#include "anesi/models/variable_pairs.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

ChosenQ chosen_for(const std::shared_ptr<const Problem>& problem, const DiscoverOptions& options = {}) {
  return choose_q(problem, options, /*seed=*/1, [](const Problem& of, const std::string& name) {
    return make_model(of, name, /*explain=*/false, {"width=16"});
  });
}

TEST(ChooseQ, TakesWhatTheProblemTellsAndEnumeratesWhatIsSmall) {
  const auto told = chosen_for(std::make_shared<toys::Addition>(20));
  EXPECT_TRUE(told.is_exact());
  EXPECT_FALSE(told.discovery) << "nothing was asked";
  EXPECT_TRUE(chosen_for(toys::uneven()).is_exact());
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

}  // namespace
}  // namespace anesi
