#include "anesi/losses/counted.h"

#include <gtest/gtest.h>

#include "anesi/models/architecture.h"
#include "anesi/models/exact_model.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/random.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

// A q that has learned nothing, under a pruner that leaves nothing out.
class Counted : public testing::Test {
 protected:
  torch::Tensor counted(const torch::Tensor& beliefs, const Observations& seen, std::int64_t samples) const {
    return counted_log_prob(q_, addition_, beliefs, seen, samples, seeded(seed_ + 2), &pruning_);
  }
  Observations observed(bool whole_worlds) const {
    Observations seen(outputs_);
    if (whole_worlds) seen.worlds = worlds_;
    return seen;
  }

  const toys::RandomSeed seed_;
  const toys::Addition addition_{2, /*base=*/3};
  const SymbolicPruning pruning_{addition_.facts().share<Pruner>()};
  const InferenceModel q_ = (torch::manual_seed(seed_), make_model(addition_, "scan", /*explain=*/true, {"width=8"}));
  const torch::Tensor beliefs_ = toys::random_beliefs(5, addition_.worlds(), 1, seeded(seed_)).to(torch::kFloat32);
  const torch::Tensor worlds_ = sample_worlds(beliefs_, seeded(seed_ + 1));
  const torch::Tensor outputs_ = apply(addition_, worlds_);
};

TEST_F(Counted, FewDrawsGiveTheOutputItsProbabilityInTheMean) {
  constexpr std::int64_t kTrials = 4000;
  const auto exact =
      make_exact(addition_, {.method = "enumerate"})->log_prob(beliefs_.to(torch::kFloat64), outputs_).exp();
  const auto beliefs = beliefs_.repeat_interleave(kTrials, 0);
  for (const bool whole_worlds : {false, true}) {
    const auto rows = torch::arange(5).repeat_interleave(kTrials);
    const auto seen = observed(whole_worlds).rows(rows);
    auto log_prob = counted(beliefs, seen, 3).to(torch::kFloat64);
    if (whole_worlds) log_prob = known_log_prob(beliefs, seen.worlds) - log_prob;
    const auto estimates = log_prob.exp().view({5, kTrials});
    const auto error = estimates.std(1) / std::sqrt(static_cast<double>(kTrials));
    EXPECT_TRUE(((estimates.mean(1) - exact).abs() < 4.5 * error + 1e-6).all().item<bool>())
        << estimates.mean(1) << exact << error;
  }
}

TEST_F(Counted, ManyDrawsGiveTheGradientOfExactInference) {
  for (const bool whole_worlds : {false, true}) {
    const auto seen = observed(whole_worlds);
    const auto gradient_of = [&](const auto& log_prob) {
      auto logits = beliefs_.log().requires_grad_();
      return torch::autograd::grad({log_prob(logits.softmax(2)).sum()}, {logits})[0];
    };
    const auto gradient = gradient_of([&](const torch::Tensor& beliefs) { return counted(beliefs, seen, 20000); });
    const auto exact = gradient_of([&](const torch::Tensor& beliefs) {
      const auto of_outputs = make_exact(addition_, {.method = "enumerate"})->log_prob(beliefs, outputs_);
      return whole_worlds ? known_log_prob(beliefs, worlds_) - of_outputs : of_outputs;
    });
    EXPECT_TRUE(torch::allclose(gradient, exact, 0.02, 0.02)) << gradient - exact;
  }
}

TEST_F(Counted, QSaysHowLikelyAnOutputIsThatNoDrawGives) {
  auto impossible = outputs_.clone();
  impossible.select(1, 0).fill_(1);
  impossible.select(1, 1).fill_(2);
  impossible.select(1, 2).fill_(2);  // 122 is no sum of two numbers of two digits to the base 3
  const auto counted = counted_log_prob(q_, addition_, beliefs_, Observations(impossible), 10, seeded(seed_));
  EXPECT_TRUE(torch::allclose(counted, q_.prediction->log_prob(beliefs_, impossible), 1e-5, 1e-5));
}

}  // namespace
}  // namespace anesi
