#include "anesi/builtin/sudoku.h"

#include <gtest/gtest.h>

#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "anesi/discover/problem_check.h"
#include "anesi/losses/amortized.h"
#include "anesi/models/exact_model.h"
#include "anesi/models/pairwise.h"
#include "anesi/priors/certain.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/consistent_worlds.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

const std::vector<std::int64_t> kGrid{0, 1, 2, 3, 2, 3, 0, 1, 1, 0, 3, 2, 3, 2, 1, 0};

TEST(Sudoku, HasAnOutputForEachPairThatMustDiffer) {
  EXPECT_EQ(Sudoku(4).outputs().variables(), 56);
  EXPECT_EQ(Sudoku(9).outputs().variables(), 810);
  EXPECT_EQ(Sudoku(16).outputs().variables(), 16 * 16 * (15 + 15 + 9) / 2);
  EXPECT_THROW(Sudoku(6), UsageError);
}

TEST(Sudoku, SaysWhichPairsAreEqual) {
  const Sudoku sudoku(4);
  EXPECT_EQ(apply_to(sudoku, kGrid), sudoku.valid());
  auto broken = kGrid;
  broken[0] = 1;  // equal to its right neighbour, which is in its block too, and to the 1 below
  const auto output = apply_to(sudoku, broken);
  const auto pairs = sudoku.pairs();
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    const bool equal = pairs[pair] == VariablePair{0, 1} || pairs[pair] == VariablePair{0, 8};
    EXPECT_EQ(output[pair], equal ? 0 : 1);
  }
}

// Whatever it tells of itself is true of it.
TEST(Sudoku, PassesTheDoctor) {
  const auto findings = check_problem(Sudoku(4));
  EXPECT_EQ(findings.size(), this_build().cadical ? 8U : 7U);  // it has a pruner by SAT
  for (const auto& finding : findings) EXPECT_TRUE(finding.good) << finding.name << ": " << finding.words;
}

TEST(Sudoku, TheFormulaCountsTheValidGrids) {
  const Sudoku sudoku(4);
  const auto exact = make_exact(sudoku, {.method = "conditioned"});
  const auto valid = torch::tensor(sudoku.valid()).unsqueeze(0);
  const auto share = exact->log_prob(uniform_beliefs(1, sudoku.worlds()), valid).exp().item<double>();
  EXPECT_NEAR(share * sudoku.worlds().points(), 288, 1e-6);
  const auto best = exact->most_probable(certain_beliefs(torch::tensor(kGrid).unsqueeze(0), sudoku.worlds()), valid);
  EXPECT_TRUE(torch::equal(best.worlds[0], torch::tensor(kGrid)));
}

TEST(Sudoku, NineByNineIsTooLargeToCompile) {
  const Sudoku sudoku(9);
  const auto exact = make_exact(sudoku, {.method = "conditioned", .seconds = /*seconds=*/8});
  const auto message = toys::message_of(
      [&] { exact->log_prob(uniform_beliefs(1, sudoku.worlds()), torch::tensor(sudoku.valid()).unsqueeze(0)); });
  EXPECT_TRUE(toys::names(message, {"circuit", "8 s"}));
}

// The table must come out as "do the two values differ", so that q of a pair is 1 - <P_i, P_j> for any belief.
TEST(Sudoku, ATableLearnedFromWorldsIsOneMinusTheInnerProduct) {
  const auto problem = std::make_shared<Sudoku>(9);
  const auto& sudoku = *problem;
  torch::manual_seed(5);
  const auto model = std::make_shared<Pairwise>(sudoku, PairwiseOptions{});
  AmortizedOptions options;
  options.samples = 64;
  const Schedule schedule{.lr = 0.05, .shape = Shape::kCosine};
  constexpr std::int64_t kSteps = 400;
  AmortizedLoss loss(problem, {model, nullptr}, std::make_unique<CertainBeliefs>(sudoku.worlds()), options, seeded(6));
  for (std::int64_t step = 0; step < kSteps; ++step) loss.update(schedule.at(step, kSteps));
  const torch::NoGradGuard no_gradients;
  EXPECT_LT((model->table().select(2, 0) - torch::eye(9)).abs().max().item<double>(), 0.01);
  const auto beliefs = FixedDirichlet(sudoku.worlds(), 0.3).sample(20, seeded(7));
  const auto factors = model->factors(beliefs).exp().select(0, 1);  // that a pair differs
  const auto pairs = sudoku.pairs();
  for (std::size_t pair = 0; pair < pairs.size(); pair += 37) {
    const auto inner = (beliefs.select(1, pairs[pair][0]) * beliefs.select(1, pairs[pair][1])).sum(1);
    EXPECT_LT((factors.select(1, static_cast<std::int64_t>(pair)) - (1 - inner)).abs().max().item<double>(), 0.01);
  }
}

// All 288 grids, by brute force over what is left when equal neighbours are cut off.
std::vector<std::vector<std::int64_t>> all_valid_grids(const Sudoku& sudoku) {
  std::vector<std::vector<std::int64_t>> grids;
  std::vector<std::int64_t> grid(16, kUnset);
  const auto pairs = sudoku.pairs();
  const std::function<void(std::size_t)> fill = [&](std::size_t cell) {
    if (cell == grid.size()) {
      grids.push_back(grid);
      return;
    }
    for (std::int64_t value = 0; value < 4; ++value) {
      grid[cell] = value;
      const bool fits = std::none_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
        return pair[1] == static_cast<std::int64_t>(cell) && grid[static_cast<std::size_t>(pair[0])] == value;
      });
      if (fits) fill(cell + 1);
    }
  };
  fill(0);
  return grids;
}

TEST(Sudoku, TheMostProbableValidGridIsThatOfEnumeration) {
  const Sudoku sudoku(4);
  const auto grids = all_valid_grids(sudoku);
  ASSERT_EQ(grids.size(), 288);
  std::vector<torch::Tensor> rows;
  for (const auto& grid : grids) rows.push_back(torch::tensor(grid));
  const auto all = torch::stack(rows);
  const auto beliefs = FixedDirichlet(sudoku.worlds(), 0.5).sample(200, seeded(8));
  const auto found =
      most_probable_worlds(sudoku, beliefs, torch::tensor(sudoku.valid()).expand({200, -1}), {.nats = 1000});
  for (std::int64_t row = 0; row < 200; ++row) {
    const auto logs = world_log_prob(beliefs[row].unsqueeze(0).expand({288, -1, -1}).contiguous(), all);
    const auto best = logs.max().item<double>();
    const auto likely = beliefs[row].amax(1).log().sum().item<double>();
    EXPECT_NEAR(found.gap[row].item<double>(), likely - best, 1e-3);
    EXPECT_TRUE(found.proven[row].item<bool>());
  }
}

}  // namespace
}  // namespace anesi
