#include "anesi/priors/palette.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

const Space kMap = Space::uniform(144, 5);

TEST(PalettePrior, LaysOutAFewBeliefsInBlobs) {
  const auto [beliefs, worlds] = PalettePrior(kMap, {.certain = 0, .jitter = 0}).sample_with_worlds(200, seeded(1));
  check_beliefs(beliefs, kMap);
  for (std::int64_t map = 0; map < 200; ++map) {
    const auto distinct = std::get<0>(torch::unique_dim(beliefs[map], 0));
    EXPECT_LE(distinct.size(0), 7);
  }
  const auto grid = beliefs.view({200, 12, 12, 5});
  const auto same = (grid.slice(2, 1) == grid.slice(2, 0, 11)).all(3).to(torch::kFloat32).mean().item<double>();
  EXPECT_GT(same, 0.6);
}

TEST(PalettePrior, TiesTheWorldsOfAnEntry) {
  const auto [beliefs, worlds] = PalettePrior(kMap, {.certain = 0, .jitter = 0}).sample_with_worlds(200, seeded(2));
  for (std::int64_t map = 0; map < 200; ++map) {
    const auto joined = torch::cat({beliefs[map], worlds[map].unsqueeze(1).to(torch::kFloat32)}, 1);
    EXPECT_EQ(std::get<0>(torch::unique_dim(joined, 0)).size(0),
              std::get<0>(torch::unique_dim(beliefs[map], 0)).size(0));
  }
}

TEST(PalettePrior, DrawsEachWorldAsItsBeliefSays) {
  const auto [beliefs, worlds] = PalettePrior(kMap, {.jitter = 0}).sample_with_worlds(4000, seeded(3));
  const auto drawn = torch::one_hot(worlds, 5).to(torch::kFloat32);
  for (const double from : {0.0, 0.2, 0.4, 0.6, 0.8}) {
    const auto bin = (beliefs >= from).logical_and(beliefs < from + 0.2);
    const auto said = beliefs.masked_select(bin).mean().item<double>();
    EXPECT_NEAR(drawn.masked_select(bin).mean().item<double>(), said, 0.03) << from;
  }
}

TEST(PalettePrior, AShareOfMapsIsCertain) {
  const auto beliefs = PalettePrior(kMap, {.certain = 0.4, .jitter = 0}).sample(2000, seeded(4));
  const auto certain = (std::get<0>(beliefs.max(2)) > 0.99).all(1).to(torch::kFloat32).mean().item<double>();
  EXPECT_NEAR(certain, 0.4, 0.06);
}

TEST(PalettePrior, FollowsPerception) {
  PalettePrior prior(kMap, {.certain = 0, .jitter = 0, .perceived = 1});
  const auto emitted = torch::tensor({0.1F, 0.6F, 0.1F, 0.1F, 0.1F}).expand({3, 144, 5});
  prior.observe(emitted);
  const auto beliefs = prior.sample(50, seeded(5));
  EXPECT_TRUE((beliefs.argmax(2) == 1).all().item<bool>());
  PalettePrior restored(kMap, {.certain = 0, .jitter = 0, .perceived = 1});
  restored.load_state(prior.state());
  EXPECT_TRUE(torch::equal(restored.sample(50, seeded(5)), beliefs));
}

TEST(PalettePrior, IsForSquareGridsAlone) {
  EXPECT_THROW(PalettePrior(Space::uniform(10, 5), {}), UsageError);
  EXPECT_THROW(PalettePrior(Space{2, 3, 2, 2}, {}), UsageError);
  EXPECT_THROW(PalettePrior(kMap, {.least = 2, .most = 1}), UsageError);
}

}  // namespace
}  // namespace anesi
