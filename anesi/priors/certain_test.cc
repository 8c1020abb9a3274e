#include "anesi/priors/certain.h"

#include <gtest/gtest.h>

#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

TEST(CertainBeliefs, EveryWorldIsEquallyLikely) {
  const Space space{2, 3};
  const auto beliefs = CertainBeliefs(space).sample(30000, seeded(3));
  check_beliefs(beliefs, space);
  EXPECT_TRUE(((beliefs == 0) | (beliefs == 1)).all().item<bool>());
  EXPECT_TRUE(torch::allclose(beliefs.mean(0), uniform_beliefs(1, space)[0], 0, 0.02));
}

}  // namespace
}  // namespace anesi
