#include <gtest/gtest.h>

#include "anesi/losses/exact.h"
#include "anesi/losses/losses.h"
#include "anesi/losses/rloo.h"
#include "anesi/models/architecture.h"
#include "anesi/models/exact_model.h"
#include "anesi/priors/certain.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

// A multiple of the beliefs' mean square; it learns where it is told what to say of that, and counts how often it did.
class Square final : public Loss {
 public:
  explicit Square(double factor, std::optional<double> says = std::nullopt) : factor_(factor), says_(says) {}
  torch::Tensor loss(const torch::Tensor& beliefs, const Observations&) override {
    return factor_ * beliefs.square().mean();
  }
  std::optional<double> learn(const torch::Tensor&, const Rate& rate) override {
    learned_ += rate.learning_rate;
    return says_;
  }
  NamedTensors state() const override { return {{"learned", torch::tensor(learned_, torch::kFloat64)}}; }
  void load_state(const NamedTensors& state) override { learned_ = state.at("learned").item<double>(); }
  double learned() const { return learned_; }

 private:
  double factor_, learned_ = 0;
  std::optional<double> says_;
};

TEST(TwoLosses, AddsLossesAndGradients) {
  TwoLosses sum(std::make_unique<Square>(2), std::make_unique<Square>(5), 0.5);
  Square alone(2 + 0.5 * 5);
  auto beliefs = torch::rand({3, 2, 4}, seeded(1), torch::kFloat64).requires_grad_();
  const auto added = sum.loss(beliefs, {}), expected = alone.loss(beliefs, {});
  EXPECT_NEAR(added.item<double>(), expected.item<double>(), 1e-12);
  EXPECT_TRUE(torch::allclose(torch::autograd::grad({added}, {beliefs})[0],
                              torch::autograd::grad({expected}, {beliefs})[0], 1e-12, 1e-12));
}

// Exact inference and the expected distance on one small problem, against the two alone.
TEST(TwoLosses, AddsRealOnesToo) {
  const auto problem = std::make_shared<toys::Addition>(1, /*base=*/3);
  const auto exact = make_exact_model(*problem, {.method = "enumerate"});
  const auto worlds = points_of(problem->worlds()), outputs = apply(*problem, worlds);
  const auto logits = torch::randn({worlds.size(0), 2, 3}, seeded(2), torch::kFloat64).requires_grad_();
  const auto gradient = [&](Loss& loss) {
    return torch::autograd::grad({loss.loss(logits.softmax(2), outputs)}, {logits})[0];
  };
  ExactLoss first(exact);
  RlooLoss second(problem, {.samples = 4}, seeded(3));
  TwoLosses sum(std::make_unique<ExactLoss>(exact),
                std::make_unique<RlooLoss>(problem, RlooOptions{.samples = 4}, seeded(3)), 3);
  EXPECT_TRUE(torch::allclose(gradient(sum), gradient(first) + 3 * gradient(second), 1e-9, 1e-12));
}

TEST(TwoLosses, BothLearnAndTheFirstThatDidIsToldOf) {
  const auto learned = [](std::optional<double> one, std::optional<double> other) {
    auto first = std::make_unique<Square>(1, one), second = std::make_unique<Square>(1, other);
    const auto &first_of = *first, &second_of = *second;
    TwoLosses sum(std::move(first), std::move(second), 1);
    const auto says = sum.learn({}, {.learning_rate = 0.5});
    EXPECT_EQ(first_of.learned(), 0.5);
    EXPECT_EQ(second_of.learned(), 0.5);
    return says;
  };
  EXPECT_EQ(learned(3, 4), 3);
  EXPECT_EQ(learned(std::nullopt, 4), 4);
  EXPECT_EQ(learned(std::nullopt, std::nullopt), std::nullopt);
}

TEST(TwoLosses, AreTakenInTurnWhereAsked) {
  auto first = std::make_unique<Square>(1), second = std::make_unique<Square>(2);
  const std::vector<Loss*> both{first.get(), second.get()};
  TwoLosses in_turn(std::move(first), std::move(second), 1, /*in_turn=*/true);
  EXPECT_EQ(in_turn.in_turn(), both);
  TwoLosses together(std::make_unique<Square>(1), std::make_unique<Square>(2), 1);
  EXPECT_EQ(together.in_turn(), std::vector<Loss*>{&together});
}

TEST(TwoLosses, RemembersBothApart) {
  auto first = std::make_unique<Square>(1), second = std::make_unique<Square>(1);
  first->learn({}, {.learning_rate = 0.25});
  second->learn({}, {.learning_rate = 0.75});
  const TwoLosses sum(std::move(first), std::move(second), 1);
  auto other_first = std::make_unique<Square>(1), other_second = std::make_unique<Square>(1);
  const auto &one = *other_first, &two = *other_second;
  TwoLosses other(std::move(other_first), std::move(other_second), 1);
  other.load_state(sum.state());
  EXPECT_EQ(one.learned(), 0.25);
  EXPECT_EQ(two.learned(), 0.75);
}

// The registered sum: q goes on learning as it would have, from what it remembers.
TEST(TwoLosses, OfTheRegistryGoesOnFromItsState) {
  const auto problem = std::make_shared<toys::Addition>(1, /*base=*/3);
  const auto beliefs = uniform_beliefs(4, problem->worlds());
  struct Made {
    explicit Made(const std::shared_ptr<const Problem>& problem) : generator(seeded(5)) {
      const SeededWeights weights(6);
      q = make_model(*problem, "transducer");
      LossOptions options;
      options.q.samples = 16;
      options.rloo = {.samples = 4, .weight = 0.5};
      loss = losses()
                 .find("amortized+rloo")
                 .make({.problem = problem,
                        .model = q,
                        .make_prior = [](const Space& worlds) { return std::make_unique<CertainBeliefs>(worlds); },
                        .options = options,
                        .generator = generator});
    }
    at::Generator generator;
    InferenceModel q;
    std::unique_ptr<Loss> loss;
  };
  Made straight(problem), resumed(problem);
  for (int step = 0; step < 3; ++step) EXPECT_TRUE(straight.loss->learn(beliefs, Rate{}).has_value());
  resumed.loss->load_state(copied(straight.loss->state()));
  {
    const torch::NoGradGuard no_gradients;
    const auto from = straight.q.prediction->parameters(), to = resumed.q.prediction->parameters();
    for (std::size_t place = 0; place < from.size(); ++place) to[place].copy_(from[place]);
  }
  resumed.generator.set_state(straight.generator.get_state());
  EXPECT_EQ(straight.loss->learn(beliefs, Rate{}), resumed.loss->learn(beliefs, Rate{}));
  const auto one = straight.q.prediction->parameters(), other = resumed.q.prediction->parameters();
  for (std::size_t place = 0; place < one.size(); ++place) EXPECT_TRUE(torch::equal(one[place], other[place]));
}

}  // namespace
}  // namespace anesi
