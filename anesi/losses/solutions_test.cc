#include "anesi/losses/solutions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/formula/formula.h"
#include "anesi/models/exact_model.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/random.h"

namespace anesi {
namespace {

// At most two of five hold, and the first or the last does.
std::shared_ptr<const Problem> few_of_five() {
  std::string clauses = "1 5 0\n";
  int count = 1;
  for (int first = 1; first <= 5; ++first) {
    for (int second = first + 1; second <= 5; ++second) {
      for (int third = second + 1; third <= 5; ++third, ++count) {
        clauses += fmt::format("-{} -{} -{} 0\n", first, second, third);
      }
    }
  }
  return formula_problem(parse_dimacs(fmt::format("p cnf 5 {}\n{}", count, clauses), "test"));
}

TEST(Solutions, AllGiveTheOutputAndBeliefsBelieveInThem) {
  const auto problem = few_of_five();
  const auto drawn = Solutions(problem).draw(500, seeded(1));
  EXPECT_TRUE((apply(*problem, drawn.worlds) == 1).all().item<bool>());
  EXPECT_TRUE((drawn.outputs == 1).all().item<bool>());
  check_beliefs(drawn.beliefs, problem->worlds());
  EXPECT_TRUE(world_log_prob(drawn.beliefs, drawn.worlds).isfinite().all().item<bool>());
}

// The mean log-likelihood of drawn worlds is that of p(w|y,P) if they are distributed so: compare it with its
// expectation under p(w|y,P), belief by belief.
TEST(Solutions, AreDistributedAsTheWorldsBehindTheirBeliefs) {
  const toys::RandomSeed seed;
  const auto problem = few_of_five();
  constexpr std::int64_t kDraws = 20000;
  const auto drawn = Solutions(problem).draw(kDraws, seeded(seed));
  const auto truth = make_exact(*problem, {.method = "enumerate"});
  const auto beliefs = drawn.beliefs.to(torch::kFloat64);
  // E[w_i] given P, against the w_i that was drawn: their difference has mean zero, also weighted by any function of P.
  const auto expected = truth->marginals(beliefs, drawn.outputs).select(2, 1);
  const auto difference = drawn.worlds.to(torch::kFloat64) - expected;
  for (const auto& weight : {torch::ones_like(expected), beliefs.select(2, 1), expected}) {
    const auto error = (difference * weight).mean(0).abs().max().item<double>();
    EXPECT_LT(error, 0.012) << "about four standard errors";
  }
}

TEST(Solutions, NeedAPrunerAndAnOutputThatIsAskedFor) {
  EXPECT_THROW(Solutions(make_problem(Space{2}, Space{2}, [](Values w, MutableValues y) { y[0] = w[0]; })), UsageError);
}

}  // namespace
}  // namespace anesi
