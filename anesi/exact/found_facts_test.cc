#include "anesi/exact/found_facts.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/core/output_tables.h"
#include "anesi/exact/automaton.h"
#include "anesi/testing/damaged_arrays.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

// An addition that was found out: what it tells of itself, as if by asking.
std::shared_ptr<const Problem> found_addition() {
  const toys::Addition addition(2);
  const auto plain = with_facts(std::make_shared<toys::Addition>(2), {});
  return with(with(plain, *addition.facts().find<Automaton>()), FoundFacts{.automaton = true, .summary = "a carry"});
}

TEST(FoundFacts, AMemoryComesBackAsItWas) {
  const auto problem = found_addition();
  const auto saved = found_facts_of(*problem);
  const auto again = with_found_facts(with_facts(problem, {}), saved, "a carry");
  const auto& one = *problem->facts().find<Automaton>();
  const auto* const other = again->facts().find<Automaton>();
  ASSERT_NE(other, nullptr);
  const auto worlds = all_points(problem->worlds());
  EXPECT_EQ(one.run(worlds), other->run(worlds));
  EXPECT_EQ(one.widths(), other->widths());
  EXPECT_EQ(again->facts().find<FoundFacts>()->summary, "a carry");
  EXPECT_TRUE(found_facts_of(*with_facts(problem, {})).empty()) << "nothing was found";
}

TEST(FoundFacts, TablesComeBackAsTheyWere) {
  const auto plain = make_problem(Space{2, 3}, Space{2, 2, 2}, [](Values world, MutableValues output) {
    output[0] = world[0];
    output[1] = world[0] == world[1] ? 1 : 0;
    output[2] = 1;
  });
  const OutputTables tables{{{{0}, {0, 1}}, {{0, 1}, {1, 0, 0, 0, 1, 0}}, {{}, {1}}}};
  const auto saved = found_facts_of(*with(with(plain, tables), FoundFacts{.tables = true, .summary = ""}));
  const auto again = with_found_facts(plain, saved, "");
  const auto& got = again->facts().find<OutputTables>()->tables;
  ASSERT_EQ(got.size(), 3);
  for (std::size_t output = 0; output < 3; ++output) {
    EXPECT_EQ(got[output].variables, tables.tables[output].variables);
    EXPECT_EQ(got[output].values, tables.tables[output].values);
  }
}

// Else a run that goes on would save another model than one that was never stopped.
TEST(FoundFacts, WhereNothingWasFoundNothingIsAdded) {
  const auto problem = with_facts(found_addition(), {});
  EXPECT_EQ(with_found_facts(problem, {}, "few worlds")->facts().find<FoundFacts>(), nullptr);
}

// Whatever a damaged file says, it is an error in words.
TEST(FoundFacts, DamageIsAnError) {
  const auto problem = with_facts(found_addition(), {});
  const auto whole = found_facts_of(*found_addition());
  for (const auto& [name, array] : whole) {
    auto without = whole;
    without.erase(name);
    if (name != "automaton.start") {
      EXPECT_THROW(with_found_facts(problem, without, ""), Error) << name;
    }
    auto longer = whole;
    longer[name] = toys::twice(array);
    EXPECT_THROW(with_found_facts(problem, longer, ""), Error) << name;
    auto outside = whole;
    outside[name] = toys::raised(array, 1000);
    EXPECT_THROW(with_found_facts(problem, outside, ""), Error) << name;
  }
  const auto other =
      make_problem(Space{2, 2}, Space{2}, [](Values world, MutableValues output) { output[0] = world[0]; });
  EXPECT_THROW(with_found_facts(other, whole, ""), Error);
}

}  // namespace
}  // namespace anesi
