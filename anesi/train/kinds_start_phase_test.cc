#include "anesi/train/kinds_start_phase.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/losses/exact.h"
#include "anesi/models/exact_model.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/lookup.h"

namespace anesi {
namespace {

using toys::Lookup;

constexpr std::int64_t kVariables = 6, kValuesOfSix = 4, kExamples = 400;

// Sums of six values of which inputs are a blurred picture.
Learner sums_of_six(bool separable = true) {
  const auto problem = make_problem(Space::uniform(kVariables, kValuesOfSix),
                                    Space{kVariables * (kValuesOfSix - 1) + 1}, [](Values world, MutableValues output) {
                                      output[0] = 0;
                                      for (const auto value : world) output[0] += value;
                                    });
  const auto worlds = torch::randint(kValuesOfSix, {kExamples, kVariables}, seeded(1), torch::kInt64);
  const auto inputs = worlds.to(torch::kFloat32) + 0.1 * torch::randn({kExamples, kVariables}, seeded(2));
  Learner learner(
      problem, [separable] { return std::make_shared<Lookup>(kValuesOfSix, separable); },
      tensor_examples(inputs.clamp(0, kValuesOfSix - 1).unsqueeze(2), apply(*problem, worlds), worlds), /*seed=*/1);
  learner.model = make_exact_model(*problem);
  learner.loss = std::make_unique<ExactLoss>(learner.model);
  learner.make_optimizers();
  return learner;
}

TEST(KindsStart, ATableLearnsFromSumsWhatItsKindsAreAndPerceptionFromTheTable) {
  auto learner = sums_of_six();
  KindsStartPhase phase(
      learner, {.kinds = 8, .components = 1, .tables = 2, .tries = 3, .passes = 25, .batch = 16, .epochs = 60});
  phase.begin();
  for (std::int64_t step = 0; step < phase.steps(); ++step) phase.step(step);
  const auto beliefs = learner.perception->forward(learner.training->batch(0, kExamples).inputs);
  const auto right = (beliefs.argmax(2) == learner.training->worlds()).to(torch::kFloat64).mean().item<double>();
  EXPECT_GT(right, 0.97);
}

TEST(KindsStart, SaysWhatItLacks) {
  auto whole = sums_of_six(/*separable=*/false);
  EXPECT_THROW(KindsStartPhase(whole, {}), UsageError);
}

}  // namespace
}  // namespace anesi
