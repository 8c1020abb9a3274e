#include "anesi/priors/priors.h"

#include <gtest/gtest.h>

#include "anesi/testing/prior_conformance.h"

namespace anesi {
namespace {

// Every prior that is registered. `palette` is of square grids.
TEST(Priors, Conform) {
  const toys::RandomSeed seed;
  PriorOptions common;
  common.fit.window = 50;
  for (const auto& name : priors().names()) {
    SCOPED_TRACE(name);
    const Space worlds = name == "palette" ? Space::uniform(9, 3) : Space{3, 2, 1};
    const auto make = [&] { return priors().find(name).choose()->make(worlds, common); };
    toys::expect_conforming_prior(make, worlds, seed);
  }
}

}  // namespace
}  // namespace anesi
