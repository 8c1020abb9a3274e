// The search against enumeration, Viterbi and a list of all 4x4 sudokus, over every way a problem may tell of itself.
#include "anesi/models/consistent_worlds.h"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <set>

#include "anesi/core/error.h"
#include "anesi/models/exact_model.h"
#include "anesi/search/local_pruner.h"
#include "anesi/search/sat_pruner.h"
#include "anesi/search/pair_propagation.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/core/build.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

using Row = std::vector<std::int64_t>;

constexpr double kNever = std::numeric_limits<double>::infinity();
const SearchLimits kNoLimits{kNever, std::numeric_limits<std::int64_t>::max()};

// Random beliefs, the more certain the larger the scale; zero past each domain.
torch::Tensor random_beliefs(std::int64_t batch, const Space& space, double scale, std::uint64_t seed) {
  auto scores = scale * torch::randn({batch, space.variables(), space.largest_domain()}, seeded(seed), torch::kFloat64);
  for (std::int64_t variable = 0; variable < space.variables(); ++variable) {
    scores.select(1, variable).slice(1, space.domain(variable)).fill_(-kNever);
  }
  return scores.softmax(2);
}

torch::Tensor random_outputs(std::int64_t batch, const Problem& problem, std::uint64_t seed) {
  return apply(problem, sample_worlds(uniform_beliefs(batch, problem.worlds()), seeded(seed)));
}

// Leaves each value open with this probability.
torch::Tensor leave_open(const torch::Tensor& outputs, double probability, std::uint64_t seed) {
  return outputs.masked_fill(torch::rand(outputs.sizes(), seeded(seed)) < probability, kUnset);
}

void expect_worlds_give(const Problem& problem, const ConsistentWorlds& found, const torch::Tensor& beliefs,
                        const torch::Tensor& outputs) {
  const auto rows = found.gap.isfinite().nonzero().squeeze(1);
  const auto worlds = found.worlds.index_select(0, rows), wanted = outputs.index_select(0, rows);
  EXPECT_TRUE((found.worlds == kUnset).all(1).equal(found.gap.isinf()));
  EXPECT_TRUE((apply(problem, worlds) == wanted).logical_or(wanted == kUnset).all().item<bool>());
  const auto cost = std::get<0>(beliefs.max(2)).log().sum(1).index_select(0, rows) -
                    world_log_prob(beliefs.index_select(0, rows), worlds);
  EXPECT_TRUE(torch::allclose(cost.to(torch::kFloat64), found.gap.index_select(0, rows), 0, 1e-6));
}

void expect_equals_enumeration(const Problem& problem, const torch::Tensor& beliefs, const torch::Tensor& outputs) {
  const auto found = most_probable_worlds(problem, beliefs, outputs, kNoLimits);
  const auto exact = make_exact(problem, {.method = "enumerate"})->most_probable(beliefs, outputs);
  const auto gap = std::get<0>(beliefs.max(2)).log().sum(1) - exact.log_prob;
  EXPECT_TRUE(torch::allclose(found.gap, gap, 0, 1e-8)) << torch::stack({found.gap, gap}, 1);
  EXPECT_TRUE(found.proven.all().item<bool>());
  expect_worlds_give(problem, found, beliefs, outputs);
}

using toys::PairsThatDiffer;

// A problem that tells nothing of itself, or its pruner alone; the problem outlives it.
std::shared_ptr<const Problem> retold(const Problem& problem, std::shared_ptr<const Pruner> pruner = nullptr) {
  Facts facts;
  if (pruner) facts.with(std::move(pruner));
  return with_facts(std::shared_ptr<const Problem>(std::shared_ptr<const Problem>(), &problem), std::move(facts));
}

// A square of side x side cells with as many values; cells of a row, a column or a box are pairs. Boxes of one row are
// no boxes: a Latin square.
PairsThatDiffer square(std::int64_t side, std::int64_t box_rows) {
  const auto box = [&](std::int64_t cell) {
    const auto box_columns = side / box_rows;
    return cell / side / box_rows * side + cell % side / box_columns;
  };
  std::vector<VariablePair> pairs;
  for (std::int64_t first = 0; first < side * side; ++first) {
    for (auto second = first + 1; second < side * side; ++second) {
      if (first / side == second / side || first % side == second % side || box(first) == box(second)) {
        pairs.push_back({first, second});
      }
    }
  }
  return {Space::uniform(side * side, side), std::move(pairs)};
}

// A 9x9 sudoku, and beliefs that are right about most of its cells.
Row solved_sudoku() {
  Row cells;
  for (std::int64_t row = 0; row < 9; ++row) {
    for (std::int64_t column = 0; column < 9; ++column) cells.push_back((row * 3 + row / 3 + column) % 9);
  }
  return cells;
}

torch::Tensor peaked_beliefs(std::int64_t batch, const Row& truth, double wrong, std::uint64_t seed) {
  const auto cells = torch::tensor(truth).unsqueeze(0).expand({batch, -1});
  auto generator = seeded(seed);
  const auto other = torch::randint(9, cells.sizes(), generator, torch::kInt64);
  const auto seen = torch::where(torch::rand(cells.sizes(), generator) < wrong, other, cells);
  // What is seen is believed most; the truth comes second where it is not what is seen.
  auto scores = 0.5 * torch::randn({batch, cells.size(1), 9}, generator, torch::kFloat64);
  scores.scatter_add_(2, cells.unsqueeze(2), torch::full({batch, cells.size(1), 1}, 3.0, torch::kFloat64));
  scores.scatter_add_(2, seen.unsqueeze(2), torch::full({batch, cells.size(1), 1}, 5.0, torch::kFloat64));
  return scores.softmax(2);
}

TEST(ConsistentWorlds, EqualEnumerationForAnyFunction) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto draw = [&](std::uint64_t least, std::uint64_t most) {
      return static_cast<std::int64_t>(least + random() % (most - least + 1));
    };
    Row worlds(static_cast<std::size_t>(draw(1, 5))), outputs(static_cast<std::size_t>(draw(1, 2)));
    for (auto& domain : worlds) domain = draw(1, 5);
    for (auto& domain : outputs) domain = draw(1, 6);
    const auto problem = make_problem(Space(worlds), Space(outputs), [&](Values w, MutableValues y) {
      std::uint64_t hash = seed;
      for (const auto value : w) hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15U;
      for (std::size_t index = 0; index < y.size(); ++index) {
        y[index] = static_cast<std::int64_t>((hash >> (20 + 10 * index)) % static_cast<std::uint64_t>(outputs[index]));
      }
    });
    const auto beliefs = random_beliefs(16, problem->worlds(), static_cast<double>(draw(0, 4)), seed);
    expect_equals_enumeration(*problem, beliefs, leave_open(random_outputs(16, *problem, seed), 0.2, seed));
  }
}

TEST(ConsistentSums, AreTheSameByPrunerBySatAndByViterbi) {
  if (!this_build().cadical) GTEST_SKIP() << "built without CaDiCaL";
  for (const std::int64_t digits : {1, 2}) {
    const toys::Addition addition(digits);
    const auto pruned = retold(addition, addition.facts().share<Pruner>());
    const auto solved = retold(addition, make_sat_pruner(addition));
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(std::to_string(digits) + " digits, seed " + std::to_string(seed));
      const auto beliefs = random_beliefs(20, addition.worlds(), 2, seed);
      const auto outputs = leave_open(random_outputs(20, addition, seed), 0.1, seed);
      expect_equals_enumeration(addition, beliefs, outputs);
      expect_equals_enumeration(*pruned, beliefs, outputs);
      expect_equals_enumeration(*solved, beliefs.slice(0, 0, 5), outputs.slice(0, 0, 5));
    }
  }
}

TEST(ConsistentWorlds, AnAutomatonKeepsTheLimitOfNatsToo) {
  const toys::Addition addition(1);
  const auto pruned = retold(addition, addition.facts().share<Pruner>());
  auto beliefs = torch::full({2, 2, 10}, 1e-4, torch::kFloat64);
  beliefs.select(2, 3).fill_(1 - 9e-4);
  beliefs[1].fill_(0).select(1, 3).fill_(1);
  const auto outputs = torch::tensor({{0, 7}, {0, 7}}, torch::kInt64);
  for (const Problem* problem : {static_cast<const Problem*>(&addition), pruned.get()}) {
    const auto cheap = most_probable_worlds(*problem, beliefs, outputs, {9});
    EXPECT_TRUE(cheap.gap.isinf().all().item<bool>());
    EXPECT_TRUE((cheap.worlds == kUnset).all().item<bool>());
    const auto dear = most_probable_worlds(*problem, beliefs, outputs, {10});
    EXPECT_NEAR(dear.gap[0].item<double>(), std::log((1 - 9e-4) / 1e-4), 1e-9);
    EXPECT_TRUE(dear.gap[1].isinf().item<bool>()) << "a world of probability zero";
    EXPECT_TRUE(cheap.proven.all().item<bool>() && dear.proven.all().item<bool>());
  }
}

// Every way to tell of a 3x3 Latin square: outputs of random worlds, so that some pairs differ and some do not.
TEST(ConsistentPairs, EqualEnumerationHoweverTheProblemTellsOfItself) {
  const auto latin = square(3, 1);
  std::vector<LocalConstraint> constraints;
  for (const auto [first, second] : latin.graph().pairs()) {
    constraints.push_back({{first, second}, {static_cast<std::int64_t>(constraints.size())}, [](Values w, Values y) {
                             return (w[0] != w[1] ? 1 : 0) == y[0];
                           }});
  }
  const auto pruned = retold(latin, make_local_pruner(latin.worlds(), latin.outputs(), constraints));
  const auto silent = retold(latin);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto beliefs = random_beliefs(20, latin.worlds(), 2, seed);
    for (const double open : {0.0, 0.3, 0.8}) {
      auto outputs = random_outputs(20, latin, seed);
      outputs.slice(0, 0, 5).fill_(1);
      outputs = leave_open(outputs, open, seed);
      expect_equals_enumeration(latin, beliefs, outputs);
      expect_equals_enumeration(*pruned, beliefs, outputs);
      expect_equals_enumeration(*silent, beliefs, outputs);
    }
  }
}

TEST(ConsistentPairs, DomainsOfDifferentSizesMeet) {
  const PairsThatDiffer problem(Space{5, 1, 3, 2, 4}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {0, 2}});
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto beliefs = random_beliefs(30, problem.worlds(), 2, seed);
    // Outputs of worlds, and outputs that perhaps no world has.
    expect_equals_enumeration(problem, beliefs, leave_open(random_outputs(30, problem, seed), 0.2, seed));
    expect_equals_enumeration(problem, beliefs, torch::randint(-1, 2, {30, 6}, seeded(seed), torch::kInt64));
  }
}

// All 288 sudokus of 4x4 cells.
std::vector<Row> all_small_sudokus(const PairsThatDiffer& problem) {
  std::vector<Row> grids;
  Row cells;
  const auto fits = [&](std::int64_t value) {
    const auto cell = static_cast<std::int64_t>(cells.size());
    return std::ranges::none_of(problem.graph().pairs(), [&](const auto& pair) {
      return pair[1] == cell && cells[static_cast<std::size_t>(pair[0])] == value;
    });
  };
  const auto fill = [&](const auto& self) -> void {
    if (cells.size() == 16) {
      grids.push_back(cells);
      return;
    }
    for (std::int64_t value = 0; value < 4; ++value) {
      if (!fits(value)) continue;
      cells.push_back(value);
      self(self);
      cells.pop_back();
    }
  };
  fill(fill);
  return grids;
}

TEST(ConsistentPairs, FindTheBestOfAllSmallSudokus) {
  const auto sudoku = square(4, 2);
  ASSERT_EQ(sudoku.graph().pairs().size(), 56);
  const auto grids = all_small_sudokus(sudoku);
  ASSERT_EQ(grids.size(), 288);
  const auto outputs = torch::ones({50, 56}, torch::kInt64);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto beliefs = random_beliefs(50, sudoku.worlds(), static_cast<double>(seed), seed);
    // Some values have probability zero, so that some rows have no sudoku at all.
    beliefs.masked_fill_(torch::rand(beliefs.sizes(), seeded(seed)) < 0.2, 0).clamp_min_(0);
    beliefs.select(2, 0).add_((beliefs.sum(2) == 0).to(torch::kFloat64));
    beliefs.div_(beliefs.sum(2, true));
    std::vector<torch::Tensor> log_probs;
    for (const auto& grid : grids) {
      log_probs.push_back(world_log_prob(beliefs, torch::tensor(grid).unsqueeze(0).expand({50, -1}).contiguous()));
    }
    const auto best = std::get<0>(torch::stack(log_probs).max(0));
    EXPECT_GT(best.isinf().sum().item<std::int64_t>(), 0);
    EXPECT_LT(best.isinf().sum().item<std::int64_t>(), 50);
    const auto found = most_probable_worlds(sudoku, beliefs, outputs, kNoLimits);
    EXPECT_TRUE(torch::allclose(found.gap, std::get<0>(beliefs.max(2)).log().sum(1) - best, 0, 1e-6));
    EXPECT_TRUE(found.proven.all().item<bool>());
    expect_worlds_give(sudoku, found, beliefs, outputs);
  }
}

// Three rows of a 4x4 sudoku's cells are certain, so that 256 worlds are left to go through.
TEST(ConsistentPairs, EqualBruteForceOnOutputsOfRandomGrids) {
  const auto sudoku = square(4, 2);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto truth = sample_worlds(uniform_beliefs(20, sudoku.worlds()), seeded(seed));
    const auto outputs = leave_open(apply(sudoku, truth), 0.5, seed);
    auto beliefs = random_beliefs(20, sudoku.worlds(), 2, seed);
    beliefs.slice(1, 0, 12).copy_(certain_beliefs(truth, sudoku.worlds()).slice(1, 0, 12));
    auto best = torch::full({20}, -kNever, torch::kFloat64);
    Space::uniform(4, 4).for_each_point([&](Values last_row) {
      auto worlds = truth.clone();
      worlds.slice(1, 12).copy_(torch::tensor(Row(last_row.begin(), last_row.end())));
      const auto agrees = (apply(sudoku, worlds) == outputs).logical_or(outputs == kUnset).all(1);
      best = torch::maximum(best, world_log_prob(beliefs, worlds).masked_fill(agrees.logical_not(), -kNever));
    });
    const auto found = most_probable_worlds(sudoku, beliefs, outputs, kNoLimits);
    EXPECT_TRUE(torch::allclose(found.gap, std::get<0>(beliefs.max(2)).log().sum(1) - best, 0, 1e-6));
    expect_worlds_give(sudoku, found, beliefs, outputs);
  }
}

TEST(ConsistentPairs, NoWorldGivesAnOutputThatContradictsItself) {
  const auto sudoku = square(9, 3);
  const auto& pairs = sudoku.graph().pairs();
  auto outputs = torch::ones({3, 810}, torch::kInt64);
  // Row 0: the first cell equals the second and the third, which differ. Row 1: all differ, but two cells of a row are
  // certain of the same value. Row 2: an output that ends too early.
  for (std::size_t index = 0; index < pairs.size(); ++index) {
    if (pairs[index][0] == 0 && pairs[index][1] <= 2) outputs[0][static_cast<std::int64_t>(index)] = 0;
  }
  outputs[2][809] = kNone;
  auto beliefs = random_beliefs(3, sudoku.worlds(), 1, 1);
  beliefs[1].slice(0, 0, 2).fill_(0).select(1, 4).fill_(1);
  const auto found = most_probable_worlds(sudoku, beliefs, outputs, {kNever});
  EXPECT_TRUE(found.gap.isinf().all().item<bool>());
  EXPECT_TRUE(found.proven.all().item<bool>());
  EXPECT_TRUE((found.worlds == kUnset).all().item<bool>());
  EXPECT_LE(found.nodes.max().item<std::int64_t>(), 2);
}

// A ring of six variables: two values that alternate, then three that are passed on.
TEST(ConsistentPairs, ConclusionsGoOnUntilNothingFollows) {
  const std::vector<VariablePair> ring{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}};
  const Row different(6, 1), equal(6, 0), half{1, 0, kUnset, 1, 0, kUnset};
  const auto domains_after = [](Propagation& propagation, std::int64_t variable, std::int64_t value) {
    EXPECT_TRUE(propagation.decide(variable, value));
    return std::vector<std::uint64_t>(propagation.domains().begin(), propagation.domains().end());
  };
  using Masks = std::vector<std::uint64_t>;
  const auto two = std::make_shared<PairGraph>(Space::uniform(6, 2), ring);
  const auto three = std::make_shared<PairGraph>(Space{3, 3, 2, 3, 3, 3}, ring);
  PairPropagation alternating(two, different), passed_on(three, equal), partly(three, half);
  EXPECT_EQ(domains_after(alternating, 2, 0), (Masks{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(passed_on.domains()[5], 3U) << "the third variable has two values, so all have";
  EXPECT_EQ(domains_after(passed_on, 4, 1), (Masks{2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(domains_after(partly, 0, 0), (Masks{1, 2, 2, 7, 7, 7}));
}

TEST(ConsistentPairs, DecisionsAreTakenBackAsTheyWereMade) {
  const auto sudoku = square(4, 2);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const auto outputs = leave_open(random_outputs(1, sudoku, seed), 0.3, seed).contiguous();
    const auto propagation = sudoku.facts().find<PropagationOf>()->make(row_of(outputs, 0));
    std::vector<std::vector<std::uint64_t>> before;
    const auto now = [&] {
      return std::vector<std::uint64_t>(propagation->domains().begin(), propagation->domains().end());
    };
    bool dead = false;
    for (int step = 0; step < 500; ++step) {
      const auto variable = random() % 16;
      const auto domain = propagation->domains()[variable];
      if (!dead && random() % 3 != 0 && !std::has_single_bit(domain)) {
        auto value = random() % 4;
        while ((domain >> value & 1) == 0) value = (value + 1) % 4;
        before.push_back(now());
        dead = !propagation->decide(static_cast<std::int64_t>(variable), static_cast<std::int64_t>(value));
        std::set<std::int64_t> changed(propagation->changed().begin(), propagation->changed().end());
        for (std::int64_t cell = 0; cell < 16; ++cell) {
          const auto at = static_cast<std::size_t>(cell);
          EXPECT_EQ(changed.contains(cell), propagation->domains()[at] != before.back()[at]);
          EXPECT_EQ(propagation->domains()[at] & ~before.back()[at], 0);
        }
      } else if (!before.empty()) {
        propagation->undo();
        dead = false;
        EXPECT_EQ(now(), before.back());
        before.pop_back();
      }
    }
  }
}

TEST(ConsistentSudokus, AreRepairedFromNearlyRightBeliefs) {
  const auto sudoku = square(9, 3);
  ASSERT_EQ(sudoku.graph().pairs().size(), 810);
  const auto truth = torch::tensor(solved_sudoku()).unsqueeze(0).expand({200, -1});
  const auto beliefs = peaked_beliefs(200, solved_sudoku(), 0.05, 1);
  const auto outputs = torch::ones({200, 810}, torch::kInt64);
  const auto found = most_probable_worlds(sudoku, beliefs, outputs);
  EXPECT_TRUE(found.proven.all().item<bool>());
  EXPECT_TRUE(torch::equal(found.worlds, truth));
  EXPECT_LT((most_likely_worlds(beliefs) == truth).all(1).sum().item<std::int64_t>(), 20);
  expect_worlds_give(sudoku, found, beliefs, outputs);
}

TEST(ConsistentSudokus, KeepTheLimitOfNodesWhereBeliefsSayNothing) {
  const auto sudoku = square(9, 3);
  const auto beliefs = random_beliefs(8, sudoku.worlds(), 1, 1);
  const auto outputs = torch::ones({8, 810}, torch::kInt64);
  for (const std::int64_t nodes : {0, 1, 100, 5000}) {
    const auto found = most_probable_worlds(sudoku, beliefs, outputs, {40, nodes});
    EXPECT_TRUE((found.nodes == nodes).all().item<bool>()) << found.nodes;
    EXPECT_FALSE(found.proven.any().item<bool>());
    expect_worlds_give(sudoku, found, beliefs, outputs);
  }
}

// Where nodes run out after a world was found, it is returned: the more nodes, the better.
TEST(ConsistentSudokus, TheBestFoundSoFarIsReturned) {
  const auto sudoku = square(4, 2);
  const auto outputs = torch::ones({50, 56}, torch::kInt64);
  const auto beliefs = random_beliefs(50, sudoku.worlds(), 1, 1);
  const auto best = most_probable_worlds(sudoku, beliefs, outputs, kNoLimits);
  auto last = torch::full({50}, kNever, torch::kFloat64);
  std::int64_t unproven_worlds = 0;
  for (std::int64_t nodes = 1; nodes <= best.nodes.max().item<std::int64_t>(); ++nodes) {
    const auto found = most_probable_worlds(sudoku, beliefs, outputs, {kNever, nodes});
    EXPECT_TRUE((found.gap <= last).all().item<bool>());
    EXPECT_TRUE((found.gap == best.gap).logical_or(found.proven.logical_not()).all().item<bool>());
    unproven_worlds += found.gap.isfinite().logical_and(found.proven.logical_not()).sum().item<std::int64_t>();
    expect_worlds_give(sudoku, found, beliefs, outputs);
    last = found.gap;
  }
  EXPECT_TRUE(torch::equal(last, best.gap));
  EXPECT_GT(unproven_worlds, 0);
}

TEST(ConsistentSudokus, CostNoMoreThanTheLimitOfNats) {
  const auto sudoku = square(4, 2);
  const auto outputs = torch::ones({50, 56}, torch::kInt64);
  const auto beliefs = random_beliefs(50, sudoku.worlds(), 1, 2);
  const auto best = most_probable_worlds(sudoku, beliefs, outputs, kNoLimits).gap;
  for (const double nats : {0.0, 0.5, 3.0, 5.0, 6.0, 7.0, 9.0, 11.0}) {
    const auto found = most_probable_worlds(sudoku, beliefs, outputs, {nats});
    EXPECT_TRUE(torch::equal(found.gap, best.masked_fill(best > nats, kNever))) << nats << " nats";
    EXPECT_TRUE(found.proven.all().item<bool>());
  }
}

TEST(ConsistentWorlds, AreTheMostLikelyOnesWhereTheyGiveTheOutput) {
  const auto sudoku = square(9, 3);
  const auto beliefs = random_beliefs(4, sudoku.worlds(), 1, 1);
  const auto likely = most_likely_worlds(beliefs);
  for (const auto& outputs : {apply(sudoku, likely), torch::full({4, 810}, kUnset, torch::kInt64)}) {
    const auto found = most_probable_worlds(sudoku, beliefs, outputs);
    EXPECT_TRUE(torch::equal(found.worlds, likely));
    EXPECT_TRUE((found.gap == 0).all().item<bool>() && found.proven.all().item<bool>());
    EXPECT_TRUE((found.nodes == 0).all().item<bool>());
  }
}

TEST(ConsistentWorlds, RefuseWhatTheyCannotSearch) {
  const auto large = make_problem(Space{65}, Space{2}, [](Values w, MutableValues y) { y[0] = w[0] % 2; });
  const auto output = torch::tensor({{1}}, torch::kInt64);
  EXPECT_THROW(most_probable_worlds(*large, uniform_beliefs(1, large->worlds()), output), Error);
  const auto full = make_problem(Space{64}, Space{2}, [](Values w, MutableValues y) { y[0] = w[0] == 63 ? 1 : 0; });
  const auto beliefs = uniform_beliefs(1, full->worlds());
  EXPECT_EQ(most_probable_worlds(*full, beliefs, output).worlds.item<std::int64_t>(), 63);
  EXPECT_THROW(most_probable_worlds(*full, beliefs, torch::tensor({{2}}, torch::kInt64)), Error);
  EXPECT_THROW(most_probable_worlds(*full, beliefs, torch::tensor({{1, 1}}, torch::kInt64)), Error);
  EXPECT_THROW(most_probable_worlds(*full, beliefs.slice(2, 1), output), Error);
  EXPECT_THROW(most_probable_worlds(*full, beliefs, output, {-1}), Error);
  EXPECT_THROW(PairGraph(Space{2, 2}, {{0, 2}}), Error);
  EXPECT_EQ(most_probable_worlds(*full, beliefs.slice(0, 1), output.slice(0, 1)).worlds.size(0), 0);
}

}  // namespace
}  // namespace anesi
