#include "anesi/tasks/mnist_add/addition.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace anesi {
namespace {

std::int64_t number(Values digits) {
  std::int64_t value = 0;
  for (const auto digit : digits) value = 10 * value + digit;
  return value;
}

TEST(Addition, EqualsIntegersOnEveryWorldOfTwoDigits) {
  const Addition addition(2);
  addition.worlds().for_each_point([&](Values world) {
    const auto sum = apply_checked(addition, world);
    ASSERT_EQ(number(sum), number(world.subspan(0, 2)) + number(world.subspan(2, 2)));
  });
}

TEST(Addition, CarriesThroughAThousandDigits) {
  const Addition addition(1000);
  std::vector<std::int64_t> world(2000, 0);
  std::fill(world.begin(), world.begin() + 1000, 9);
  world.back() = 1;
  std::vector<std::int64_t> expected(1001, 0);
  expected[0] = 1;
  EXPECT_EQ(apply_checked(addition, world), expected);
}

TEST(Addition, EqualsIntegersOnRandomWorldsOfFifteenDigits) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const Addition addition(15);
  std::uniform_int_distribution<std::int64_t> digit(0, 9);
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<std::int64_t> world(30);
    for (auto& value : world) value = digit(random);
    const Values all(world);
    ASSERT_EQ(number(apply_checked(addition, all)), number(all.subspan(0, 15)) + number(all.subspan(15, 15)));
  }
}

}  // namespace
}  // namespace anesi
