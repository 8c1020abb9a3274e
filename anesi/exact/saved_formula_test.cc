#include "anesi/exact/saved_formula.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/exact/found_facts.h"
#include "anesi/logic/compiled_formula.h"
#include "anesi/logic/random_formula.h"
#include "anesi/testing/damaged_arrays.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

// A problem that knows no more than its formula, and is to be saved with it.
std::shared_ptr<const Problem> knowing(const Cnf& cnf) {
  const auto problem = make_problem(space_of(cnf.encoding().worlds), Space{2}, [](Values, MutableValues) {});
  return with(with(problem, cnf), FoundFacts{.formula = true, .summary = "a formula"});
}

TEST(SavedFormula, ComesBackAsItWas) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const auto cnf = random_formula(7, 15, 3, random);
  auto problem = knowing(cnf);
  problem = with(problem, *compiled_formula(cnf));
  const auto again = with_found_facts(with_facts(problem, {}), found_facts_of(*problem), "a formula");
  const auto* const clauses = again->facts().find<Cnf>();
  ASSERT_NE(clauses, nullptr);
  EXPECT_EQ(clauses->clauses(), cnf.clauses());
  EXPECT_EQ(clauses->variables(), cnf.variables());
  EXPECT_EQ(clauses->encoding().worlds, cnf.encoding().worlds);
  EXPECT_TRUE(clauses->encoding().is_constraint());
  EXPECT_TRUE(found_facts_of(*again).empty()) << "a formula is told, not found";
  const auto *const before = problem->facts().find<CompiledFormula>(), *const after =
                                                                           again->facts().find<CompiledFormula>();
  ASSERT_NE(after, nullptr);
  problem->worlds().for_each_point(
      [&](Values world) { EXPECT_EQ(satisfies(*before, world), satisfies(*after, world)); });
}

TEST(SavedFormula, DamageIsAnError) {
  const auto problem = knowing(Cnf(Encoding{.worlds = {{-1, 1}, {-2, 2}, {3, 4, 5}}}, 5, {{1, 2}, {-1, 3}, {-2, 5}}));
  const auto whole = found_facts_of(*problem);
  for (const auto& [name, array] : whole) {
    auto other_type = whole;
    other_type[name] = Array(NumberType::kFloat32, array.shape());
    EXPECT_THROW(with_found_facts(problem, other_type, ""), Error) << name;
    if (name == "formula.outputs") continue;  // there are none
    auto outside = whole;
    outside[name] = toys::raised(array, name == "formula.variables" ? -1 : 1000);
    EXPECT_THROW(with_found_facts(problem, outside, ""), Error) << name;
    auto longer = whole;
    longer[name] = toys::twice(array);
    if (name != "formula.clauses") {
      EXPECT_THROW(with_found_facts(problem, longer, ""), Error) << name;
    }
  }
  const auto other = make_problem(Space{2, 2}, Space{2}, [](Values, MutableValues) {});
  EXPECT_THROW(with_found_facts(other, whole, ""), Error);
}

TEST(SavedFormula, OfOneThatIsTooLargeOnlyItsNameIsSaved) {
  Cnf cnf(Encoding{.worlds = {{-1, 1}, {-2, 2}}}, 2, {});
  for (std::size_t bytes = 0; bytes <= kMostBytesOfFormula; bytes += 12) cnf.add({1, 2});
  const auto problem = knowing(cnf);
  const auto saved = found_facts_of(*problem);
  EXPECT_TRUE(names_formula(saved));
  EXPECT_EQ(with_found_facts(with_facts(problem, {}), saved, "")->facts().find<Cnf>(), nullptr);
}

}  // namespace
}  // namespace anesi
