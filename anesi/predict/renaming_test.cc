#include "anesi/predict/renaming.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "anesi/core/space.h"
#include "anesi/testing/random.h"

namespace anesi {
namespace {

TEST(Renaming, AssignmentEqualsTryingAllPermutations) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (int repetition = 0; repetition < 200; ++repetition) {
    const auto size = 1 + random() % 5;
    std::vector<std::vector<double>> gain(size, std::vector<double>(size));
    for (auto& row : gain) {
      for (auto& cell : row) cell = static_cast<double>(random() % 20) - 5;
    }
    const auto total = [&](const std::vector<std::size_t>& columns) {
      double sum = 0;
      for (std::size_t row = 0; row < size; ++row) sum += gain[row][columns[row]];
      return sum;
    };
    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    double best = -1e9;
    do best = std::max(best, total(order));
    while (std::next_permutation(order.begin(), order.end()));
    EXPECT_EQ(total(best_assignment(gain)), best);
  }
}

TEST(Renaming, CountsUnderTheBestNamesWhereNamesAreFree) {
  const auto truth = torch::tensor({{0, 1, 2}, {2, 1, 0}}), read = torch::tensor({{1, 2, 0}, {0, 2, 2}});
  EXPECT_DOUBLE_EQ(share_right(read, truth, /*names=*/true), 5.0 / 6);
  EXPECT_DOUBLE_EQ(share_right(read, truth, /*names=*/false), 0);
  EXPECT_DOUBLE_EQ(share_right(truth, truth, /*names=*/false), 1);
}

TEST(Renaming, LeavesOutWhatIsNotKnown) {
  const auto truth = torch::tensor({{std::int64_t{0}, kUnset, std::int64_t{2}}}), read = torch::tensor({{0, 1, 1}});
  EXPECT_DOUBLE_EQ(share_right(read, truth, /*names=*/false), 0.5);
  EXPECT_TRUE(std::isnan(share_right(read, torch::full({1, 3}, kUnset, torch::kInt64), /*names=*/true)));
}

}  // namespace
}  // namespace anesi
