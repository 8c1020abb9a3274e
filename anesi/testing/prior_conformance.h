// What every prior must get right: for the tests of any prior, also of those outside this library.
//
//   TEST(MyPrior, Conforms) {
//     anesi::toys::expect_conforming_prior([] { return std::make_unique<MyPrior>(space); }, space, seed);
//   }
//
// The function makes a fresh prior each time.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>

#include "anesi/core/error.h"
#include "anesi/priors/prior.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/named_tensors.h"
#include "anesi/tensors/seeded.h"

namespace anesi::toys {

class PriorConformance {
 public:
  using Make = std::function<std::unique_ptr<BeliefPrior>()>;

  PriorConformance(Make make, Space worlds, std::uint64_t seed)
      : make_(std::move(make)), worlds_(std::move(worlds)), seed_(seed) {}

  void expect_conforming() const {
    expect_beliefs();
    expect_draws_of_the_generator_alone();
    expect_copies_without_a_graph();
    expect_to_continue_from_the_state();
    expect_to_refuse_another_state();
  }

  // Beliefs, and worlds that these do not rule out; also if what was observed is certain.
  void expect_beliefs() const {
    for (const double sharpness : {1.0, 4.0, 1000.0}) {
      const auto prior = taught(0, 3, sharpness);
      expect_beliefs(prior->sample(kSamples, seeded(seed_)));
      const auto drawn = prior->sample_with_worlds(kSamples, seeded(seed_ + 1));
      expect_beliefs(drawn.beliefs);
      ASSERT_EQ(drawn.worlds.sizes(), (std::vector<std::int64_t>{kSamples, worlds_.variables()}));
      for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
        const auto values = drawn.worlds.select(1, variable);
        ASSERT_GE(values.min().item<std::int64_t>(), 0);
        ASSERT_LT(values.max().item<std::int64_t>(), worlds_.domain(variable));
      }
      const auto believed = drawn.beliefs.gather(2, drawn.worlds.unsqueeze(2));
      EXPECT_GT(believed.min().item<double>(), 0) << "a world that its belief rules out";
      expect_beliefs(prior->sample(1, seeded(seed_)));
    }
  }

  // Same generator, same beliefs: neither torch's own generator nor its mode plays a part.
  void expect_draws_of_the_generator_alone() const {
    torch::manual_seed(1);
    const auto one = taught(0, 3);
    const auto drawn = one->sample(kSamples, seeded(seed_));
    torch::manual_seed(2);
    const torch::NoGradGuard no_gradients;
    const auto other = taught(0, 3);
    expect_equal_states(other->state(), one->state());
    EXPECT_TRUE(torch::equal(drawn, other->sample(kSamples, seeded(seed_))));
  }

  // What was observed may change afterwards.
  void expect_copies_without_a_graph() const {
    const auto prior = make_(), other = make_();
    auto beliefs = observed(1, 2.0).requires_grad_(true);
    other->observe(beliefs.detach().clone());
    prior->observe(beliefs);
    {
      const torch::NoGradGuard no_gradients;
      beliefs.zero_();
    }
    prior->fit();
    other->fit();
    const auto drawn = prior->sample(kSamples, seeded(seed_));
    EXPECT_FALSE(drawn.requires_grad());
    EXPECT_TRUE(torch::equal(drawn, other->sample(kSamples, seeded(seed_)))) << "keeps what it is shown, not a copy";
  }

  // Bit for bit, in a prior that had observed something else.
  void expect_to_continue_from_the_state() const {
    const auto straight = taught(0, 3);
    const auto state = copied(straight->state());
    teach(*straight, 3, 6);
    const auto resumed = taught(20, 21);
    resumed->load_state(state);
    teach(*resumed, 3, 6);
    expect_equal_states(resumed->state(), straight->state());
    EXPECT_TRUE(torch::equal(resumed->sample(kSamples, seeded(seed_)), straight->sample(kSamples, seeded(seed_))));
  }

  // And stays as it is.
  void expect_to_refuse_another_state() const {
    const auto prior = taught(0, 2);
    const auto state = copied(prior->state());
    for (const auto& [name, tensor] : state) {
      auto damaged = state;
      damaged.erase(name);
      EXPECT_THROW(prior->load_state(damaged), Error) << "without " << name;
      damaged[name] = torch::zeros({2, 3, 4, 5, 6});
      EXPECT_THROW(prior->load_state(damaged), Error) << "another shape of " << name;
      expect_equal_states(prior->state(), state);
    }
  }

 private:
  static constexpr std::int64_t kSamples = 50, kObserved = 20;

  torch::Tensor observed(std::uint64_t step, double sharpness) const {
    const auto shape = {kObserved, worlds_.variables(), worlds_.largest_domain()};
    const auto scores = sharpness * torch::randn(shape, seeded(seed_ + 100 + step));
    return scores.masked_fill(uniform_beliefs(1, worlds_) == 0, -INFINITY).softmax(2);
  }
  void teach(BeliefPrior& prior, std::uint64_t first, std::uint64_t last, double sharpness = 2) const {
    for (auto step = first; step < last; ++step) {
      prior.observe(observed(step, sharpness));
      prior.fit();
    }
  }
  std::unique_ptr<BeliefPrior> taught(std::uint64_t first, std::uint64_t last, double sharpness = 2) const {
    auto prior = make_();
    teach(*prior, first, last, sharpness);
    return prior;
  }

  void expect_beliefs(const torch::Tensor& beliefs) const {
    ASSERT_EQ(beliefs.sizes().slice(1), (std::vector<std::int64_t>{worlds_.variables(), worlds_.largest_domain()}));
    EXPECT_EQ(beliefs.scalar_type(), torch::kFloat32);
    EXPECT_GE(beliefs.min().item<double>(), 0);
    EXPECT_LT((beliefs.sum(2) - 1).abs().max().item<double>(), 1e-5);
    const auto padding = uniform_beliefs(1, worlds_) == 0;
    EXPECT_TRUE((beliefs.masked_select(padding.expand_as(beliefs)) == 0).all().item<bool>()) << "past a domain";
  }
  static void expect_equal_states(const NamedTensors& one, const NamedTensors& other) {
    ASSERT_EQ(one.size(), other.size());
    for (const auto& [name, tensor] : one) {
      ASSERT_TRUE(other.contains(name)) << name;
      EXPECT_TRUE(torch::equal(tensor, other.at(name))) << name;
    }
  }

  Make make_;
  Space worlds_;
  std::uint64_t seed_;
};

inline void expect_conforming_prior(PriorConformance::Make make, const Space& worlds, std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  PriorConformance(std::move(make), worlds, seed).expect_conforming();
}

}  // namespace anesi::toys
