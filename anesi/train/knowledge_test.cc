#include "anesi/train/knowledge.h"

#include <gtest/gtest.h>

#include "anesi/core/rows.h"
#include "anesi/core/seeded.h"
#include "anesi/exact/automaton.h"
#include "anesi/exact/found_facts.h"
#include "anesi/losses/exact.h"
#include "anesi/testing/tiny_training.h"
#include "anesi/testing/toy_problems.h"
#include "anesi/train/learner.h"
#include "anesi/train/train.h"

namespace anesi {
namespace {

// -1 ends an output; of a variable that is not known a label says kUnset. Nobody means the value 0.
TEST(Learner, RefusesLabelsOfWorldsThatAreNoValues) {
  const auto worlds = torch::tensor({{0, 1}, {2, 2}});
  for (const std::int64_t unknown : {kUnset, kNone, std::int64_t{-7}}) {
    Observations labels(worlds.sum(1, /*keepdim=*/true));
    labels.worlds = worlds.clone();
    labels.worlds[1][0] = unknown;
    Learner learner(
        toys::sum_of_two(), [] { return std::make_shared<toys::Sensor>(); },
        tensor_examples(worlds.to(torch::kFloat32), labels));
    learner.learn_through("transducer", {}, /*explain=*/false, {.samples = 4});
    if (unknown == kUnset) {
      EXPECT_TRUE(train(learner, {.epochs = 1}));
    } else {
      EXPECT_THROW(train(learner, {.epochs = 1}), UsageError) << unknown;
    }
  }
}

}  // namespace
}  // namespace anesi
