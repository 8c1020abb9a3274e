// The comparison with brute force that anesi's own back ends pass.
#include "count_backend.h"

#include <anesi/testing/backend_oracle.h>
#include <anesi/testing/random_seed.h>

#include <algorithm>

namespace {

TEST(CountBackend, IsExact) {
  const anesi::toys::RandomSeed seed;
  for (std::uint64_t index = 0; index < 30; ++index) {
    anesi::toys::Chances chances(seed + index);
    const auto variables = chances.between(1, 5), domain = chances.between(2, 3),
               value = chances.between(0, domain - 1);
    const auto needed = chances.between(0, variables);
    const auto function = anesi::make_problem(anesi::Space::uniform(variables, domain), {2},
                                              [=](anesi::Values world, anesi::MutableValues output) {
                                                output[0] = std::ranges::count(world, value) >= needed ? 1 : 0;
                                              });
    const auto problem = anesi::with(function, CountsOnly{value});
    anesi::toys::expect_exact(*anesi::make_backend("count", *problem), *problem, seed + index);
    if (HasFailure()) return;
  }
}

// It is the cheapest for large problems of its kind.
TEST(CountBackend, IsChosen) {
  const auto problem = anesi::with(anesi::make_problem(anesi::Space::uniform(40, 3), {41},
                                                       [](anesi::Values world, anesi::MutableValues output) {
                                                         output[0] = std::ranges::count(world, 2);
                                                       }),
                                   CountsOnly{2});
  EXPECT_EQ(anesi::choose_backend(*problem).name, "count");
}

}  // namespace
