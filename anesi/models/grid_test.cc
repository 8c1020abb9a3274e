#include "anesi/models/grid.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/core/seeded.h"
#include "anesi/models/beam.h"
#include "anesi/models/next_choice.h"
#include "anesi/models/sample.h"

namespace anesi {
namespace {

// Walks from the first cell of a square to the last, of at most so many steps. What c is does not matter here.
class Walks final : public Problem {
 public:
  Walks(std::int64_t side, std::int64_t steps)
      : side_(side), worlds_(Space::uniform(side * side, 3)), outputs_(Space::uniform(steps, kDirections)) {}
  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply(Values, MutableValues output) const override { std::ranges::fill(output, kNone); }
  std::optional<GridWalk> walk() const override { return GridWalk{side_, 0, side_ * side_ - 1}; }

 private:
  std::int64_t side_;
  Space worlds_, outputs_;
};

class GridOnASquare : public testing::Test {
 protected:
  GridOnASquare() {
    torch::manual_seed(3);
    model_ = std::make_shared<Grid>(problem_, GridOptions{});
    beliefs_ = torch::randn({2, 4, 3}).mul(2).softmax(2);
    // Every row of directions, and every one that ends early.
    for (std::int64_t length = 0; length <= 3; ++length) {
      std::vector<std::int64_t> point(3, kNone);
      Space::uniform(std::max<std::int64_t>(length, 1), kDirections).for_each_point([&](Values values) {
        std::copy_n(values.begin(), length, point.begin());
        if (length > 0 || points_.empty()) points_.push_back(torch::tensor(point));
      });
    }
  }

  torch::Tensor enumerated(std::int64_t row) {
    const auto count = static_cast<std::int64_t>(points_.size());
    return model_->log_prob(beliefs_[row].unsqueeze(0).expand({count, -1, -1}), torch::stack(points_));
  }

  Walks problem_{2, 3};
  std::shared_ptr<Grid> model_;
  torch::Tensor beliefs_;
  std::vector<torch::Tensor> points_;
};

TEST_F(GridOnASquare, SumsToOne) {
  for (std::int64_t row = 0; row < 2; ++row) EXPECT_NEAR(enumerated(row).exp().sum().item<double>(), 1, 1e-5);
}

TEST_F(GridOnASquare, LogProbIsTheProductOfItsSteps) {
  const torch::NoGradGuard no_gradients;
  for (const auto& point : points_) {
    const auto rollout = model_->begin(beliefs_);
    auto total = torch::zeros({2});
    for (std::int64_t variable = 0; variable < 3; ++variable) {
      const auto value = point[variable].expand({2});
      total += next_choice(*rollout).log_prob(value);
      rollout->advance(value);
    }
    EXPECT_TRUE(torch::allclose(total, model_->log_prob(beliefs_, point.expand({2, -1})), 1e-4, 1e-4)) << point;
  }
}

TEST_F(GridOnASquare, AWideBeamRanksEveryWalk) {
  const auto beam = beam_search(*model_, beliefs_, static_cast<std::int64_t>(points_.size()));
  for (std::int64_t row = 0; row < 2; ++row) {
    const auto expected = std::get<0>(enumerated(row).sort(0, /*descending=*/true));
    const auto found = beam.log_prob[row].isfinite().sum().item<std::int64_t>();
    EXPECT_EQ(found, expected.isfinite().sum().item<std::int64_t>());
    EXPECT_TRUE(torch::allclose(beam.log_prob[row].slice(0, 0, found), expected.slice(0, 0, found), 1e-4, 1e-4));
  }
}

TEST_F(GridOnASquare, SamplesHaveTheProbabilityTheyComeWith) {
  const torch::NoGradGuard no_gradients;
  const auto many = beliefs_.repeat({200, 1, 1});
  const auto samples = sample(*model_, many, seeded(5));
  EXPECT_TRUE(torch::allclose(samples.log_prob, model_->log_prob(many, samples.values), 1e-4, 1e-4));
  EXPECT_TRUE((samples.values == kNone).any().item<bool>());
  for (std::int64_t row = 0; row < 400; ++row) {
    const auto values = samples.values[row].contiguous();
    EXPECT_TRUE(problem_.outputs().contains({values.const_data_ptr<std::int64_t>(), 3})) << values;
  }
}

// The knowledge that a walk ends on time, as a pruner: never to the right.
class NeverRight final : public Pruner {
 public:
  void allow_outputs(Values, std::int64_t, Mask mask) const override {
    std::ranges::fill(mask, true);
    mask[4] = false;
  }
  void allow_worlds(Values, Values, std::int64_t, Mask mask) const override { std::ranges::fill(mask, true); }
};

TEST_F(GridOnASquare, PruningLeavesRowsAloneThatEnded) {
  const torch::NoGradGuard no_gradients;
  const NeverRight pruner;
  const SymbolicPruning pruning(pruner);
  const auto samples = sample(*model_, beliefs_.repeat({200, 1, 1}), seeded(5), &pruning);
  EXPECT_FALSE((samples.values == 4).any().item<bool>());
  EXPECT_TRUE((samples.values == kNone).any().item<bool>());
  EXPECT_TRUE(torch::allclose(samples.log_prob,
                              log_prob(*model_, beliefs_.repeat({200, 1, 1}), samples.values, &pruning), 1e-4, 1e-4));
}

TEST_F(GridOnASquare, IsForWalksAlone) {
  const auto other = make_problem(Space{2}, Space{2}, [](Values w, MutableValues y) { y[0] = w[0]; });
  EXPECT_THROW(Grid(*other, GridOptions{}), UsageError);
}

}  // namespace
}  // namespace anesi
