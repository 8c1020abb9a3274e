#include "anesi/discover/worlds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/testing/random_problems.h"

namespace anesi {
namespace {

template <typename Count>
double share(const Points& worlds, Count counts) {
  double sum = 0;
  for (std::int64_t row = 0; row < worlds.size(); ++row) sum += counts(worlds[row]);
  return sum / static_cast<double>(worlds.size());
}

TEST(Worlds, OfMixedBeliefsAreDrawnAsOftenAsTheySay) {
  const Space space{3, 3, 2};
  Random random(5);
  const auto worlds = mixed_worlds(space, 100000, random);
  EXPECT_EQ(share(worlds, [&](Values world) { return space.contains(world); }), 1);
  // By symmetry every value is as likely as every other; variables of one domain agree more often than by chance.
  EXPECT_NEAR(share(worlds, [](Values world) { return world[0] == 1; }), 1.0 / 3, 0.01);
  EXPECT_GT(share(worlds, [](Values world) { return world[0] == world[1]; }), 0.45);
}

TEST(Worlds, OfBeliefsAreDrawnAsOftenAsTheySay) {
  const double never = kLogOfZero, beyond = 1000;  // what stands past a domain does not count
  const Space space{3, 3, 2};
  // Two beliefs; the second one is far from normalised.
  const std::vector<double> logs{never, 0, never, std::log(0.5), std::log(0.5), never,  0,     never, beyond,
                                 never, 0, never, -900.0,        -900.0,        -900.0, never, -5000, beyond};
  Random random(5);
  const auto worlds = worlds_of_beliefs({logs.data(), 2, 3, 3}, space)(20000, random);
  EXPECT_EQ(share(worlds, [](Values world) { return world[0] == 1; }), 1);
  EXPECT_NEAR(share(worlds, [](Values world) { return world[1] == 0; }), (1 / 2.0 + 1 / 3.0) / 2, 0.02);
  EXPECT_NEAR(share(worlds, [](Values world) { return world[1] == 2; }), 1 / 6.0, 0.02);
  EXPECT_NEAR(share(worlds, [](Values world) { return world[2] == 1; }), 0.5, 0.02);
  EXPECT_EQ(share(worlds, [](Values world) { return world[2] == 1 && world[1] == 2; }),
            share(worlds, [](Values world) { return world[1] == 2; }));
}

TEST(Worlds, OfBeliefsRefuseWhatIsNone) {
  const std::vector<double> logs{kLogOfZero, kLogOfZero, 0}, not_a_number{0, NAN};
  EXPECT_THROW(worlds_of_beliefs({logs.data(), 1, 1, 3}, Space{2}), Error);
  EXPECT_NO_THROW(worlds_of_beliefs({logs.data(), 1, 1, 3}, Space{3}));
  EXPECT_THROW(worlds_of_beliefs({not_a_number.data(), 1, 1, 2}, Space{2}), Error);
  EXPECT_THROW(worlds_of_beliefs({logs.data(), 0, 1, 3}, Space{3}), Error);
  EXPECT_THROW(worlds_of_beliefs({logs.data(), 1, 1, 3}, Space{3, 3}), Error);
  EXPECT_THROW(worlds_of_beliefs({logs.data(), 1, 1, 3}, Space{4}), Error);
}

TEST(Worlds, WithAnotherValueDifferInOneVariable) {
  const Space space{4, 1, 3};
  Random random(1);
  const auto worlds = random_points(space, 3000, random);
  for (std::int64_t variable = 0; variable < 3; ++variable) {
    const auto changed = with_another_value(worlds, variable, space, random);
    for (std::int64_t row = 0; row < worlds.size(); ++row) {
      EXPECT_TRUE(space.contains(changed[row]));
      for (std::int64_t other = 0; other < 3; ++other) {
        EXPECT_EQ(changed[row][as_size(other)] != worlds[row][as_size(other)], other == variable && variable != 1);
      }
    }
  }
}

}  // namespace
}  // namespace anesi
