#include "anesi/discover/spectral_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "anesi/core/index.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

// The ends of a path of positive weights are the ends of the second eigenvector, and nothing between turns back.
TEST(SpectralOrder, FollowsAPath) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (std::int64_t size = 1; size <= 40; ++size) {
    std::vector<std::int64_t> path(as_size(size));
    std::iota(path.begin(), path.end(), 0);
    std::ranges::shuffle(path, random);
    Matrix<double> weights(size, size);
    for (std::size_t place = 1; place < path.size(); ++place) {
      const double weight = 0.5 + std::uniform_real_distribution<double>()(random);
      weights[path[place - 1]][as_size(path[place])] = weight;
      weights[path[place]][as_size(path[place - 1])] = weight;
    }
    auto order = spectral_order(weights);
    if (order.front() != path.front()) std::ranges::reverse(order);
    EXPECT_EQ(order, path);
  }
}

TEST(SpectralOrder, KeepsWhatIsTogetherTogether) {
  // Two groups of five with little between them, their members in turn.
  Matrix<double> weights(10, 10);
  for (std::int64_t i = 0; i < 10; ++i) {
    for (std::int64_t j = 0; j < 10; ++j) weights[i][as_size(j)] = i == j ? 0 : i % 2 == j % 2 ? 1 : 0.01;
  }
  const auto order = spectral_order(weights);
  for (std::size_t place = 1; place < 10; ++place) {
    EXPECT_EQ((order[place] - order[place - 1]) % 2 != 0, place == 5) << place;
  }
}

TEST(SpectralOrder, IsAnOrderWhateverTheGraph) {
  for (const auto& weights : {Matrix<double>(0, 0), Matrix<double>(1, 1), Matrix<double>(6, 6)}) {
    auto order = spectral_order(weights);
    std::ranges::sort(order);
    for (std::size_t place = 0; place < order.size(); ++place) EXPECT_EQ(as_size(order[place]), place);
  }
}

}  // namespace
}  // namespace anesi
