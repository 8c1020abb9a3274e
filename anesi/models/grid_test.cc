#include "anesi/models/grid.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/models/sample.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

// What holds for every architecture, among it that walks sum to one, is tested in models_test.cc.
class GridOnASquare : public testing::Test {
 protected:
  GridOnASquare() {
    torch::manual_seed(3);
    model_ = std::make_shared<Grid>(problem_, GridOptions{});
    beliefs_ = torch::randn({2, 4, 3}).mul(2).softmax(2);
  }

  toys::CheapestWalk problem_{2};
  std::shared_ptr<Grid> model_;
  torch::Tensor beliefs_;
};

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

// In the 32 bits that its sweeps run in, so with large steps.
TEST_F(GridOnASquare, GradientsMatchFiniteDifferences) {
  auto beliefs = beliefs_.clone().requires_grad_();
  const auto walks = torch::tensor({{4L, 6L, kNone}, {4L, 5L, 4L}});  // right and down; right, down and left, right
  const auto log_prob = [&] { return model_->log_prob(beliefs, walks).sum(); };
  auto tensors = model_->parameters();
  tensors.push_back(beliefs);
  log_prob().backward();
  const torch::NoGradGuard no_gradients;
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    const auto gradient = tensors[index].grad();
    const auto length = gradient.norm().item<double>();
    if (length < 1e-3) continue;               // nothing to measure in 32 bits
    const auto direction = gradient / length;  // along which it changes most
    const auto original = tensors[index].clone();
    const auto at = [&](double offset) {
      tensors[index].copy_(original + offset * direction);
      return log_prob().item<double>();
    };
    const double step = 2e-3 / std::max(1.0, length);
    const double measured = (at(step) - at(-step)) / (2 * step);
    tensors[index].copy_(original);
    EXPECT_NEAR(measured, length, 0.03 * length) << "tensor " << index;
  }
}

TEST_F(GridOnASquare, IsForWalksAlone) {
  const auto other = make_problem(Space{2}, Space{2}, [](Values w, MutableValues y) { y[0] = w[0]; });
  EXPECT_THROW(Grid(*other, GridOptions{}), UsageError);
}

}  // namespace
}  // namespace anesi
