// What every architecture must get right, checked for all that are registered.
#include <gtest/gtest.h>

#include "anesi/core/beliefs.h"
#include "anesi/core/problem.h"
#include "anesi/models/architecture.h"
#include "anesi/models/beam.h"
#include "anesi/models/sample.h"

namespace anesi {
namespace {

// Adds two numbers of two ternary digits, with its natural reading order.
class TernaryAddition final : public Problem {
 public:
  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply(Values w, MutableValues y) const override {
    const auto sum = 3 * (w[0] + w[2]) + w[1] + w[3];
    y[0] = sum / 9;
    y[1] = sum / 3 % 3;
    y[2] = sum % 3;
  }
  ReadingOrder reading_order() const override {
    return ReadingOrder(worlds_, outputs_, {{{1, 3}, 2, 0}, {{0, 2}, 1, 0}, {{}, 0, 1}});
  }

 private:
  Space worlds_ = Space::uniform(4, 3), outputs_{2, 3, 3};
};

// Domains of different sizes and no reading order.
std::unique_ptr<Problem> uneven() {
  return make_problem(Space{2, 4, 3}, Space{3, 2}, [](Values w, MutableValues y) {
    y[0] = (w[0] + w[1] + w[2]) % 3;
    y[1] = w[1] > w[2] ? 1 : 0;
  });
}

struct Case {
  std::string architecture, problem;

  friend void PrintTo(const Case& the_case, std::ostream* out) {
    *out << the_case.architecture << " of " << the_case.problem;
  }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& [name, entry] : architectures()) {
    for (const char* problem : {"addition", "uneven"}) cases.push_back({name, problem});
  }
  return cases;
}

class EveryArchitecture : public testing::TestWithParam<Case> {
 protected:
  EveryArchitecture() {
    torch::manual_seed(11);
    problem_ = GetParam().problem == "addition" ? std::make_unique<TernaryAddition>() : uneven();
    model_ = architectures().at(GetParam().architecture).make()->build(*problem_);
    beliefs_ = (torch::randn({3, problem_->worlds().variables(), problem_->worlds().largest_domain()}) * 2).exp() *
               uniform_beliefs(3, problem_->worlds());
    beliefs_ = beliefs_ / beliefs_.sum(2, /*keepdim=*/true);
    std::vector<torch::Tensor> points;
    problem_->outputs().for_each_point(
        [&](Values point) { points.push_back(torch::tensor(std::vector<std::int64_t>(point.begin(), point.end()))); });
    points_ = torch::stack(points);
  }

  // log q of every output for one belief, [outputs].
  torch::Tensor enumerated(const torch::Tensor& belief) {
    return model_->log_prob(belief.unsqueeze(0).expand({points_.size(0), -1, -1}), points_);
  }

  std::unique_ptr<Problem> problem_;
  std::shared_ptr<SequenceModel> model_;
  torch::Tensor beliefs_;  // [3, variables, domain]
  torch::Tensor points_;   // every output, [outputs, variables]
};

TEST_P(EveryArchitecture, SumsToOne) {
  for (const auto& belief : beliefs_.unbind(0)) EXPECT_NEAR(enumerated(belief).exp().sum().item<float>(), 1, 1e-5);
}

TEST_P(EveryArchitecture, LogProbIsTheProductOfItsSteps) {
  const torch::NoGradGuard no_gradients;
  for (const auto& point : points_.unbind(0)) {
    auto rollout = model_->begin(beliefs_);
    auto total = torch::zeros({3});
    for (const auto variable : model_->order()) {
      const auto log_probs = rollout->next_log_probs();
      ASSERT_EQ(log_probs.size(1), problem_->outputs().domain(variable));
      const auto value = point[variable].expand({3});
      total += log_probs.gather(1, value.unsqueeze(1)).squeeze(1);
      rollout->advance(value);
    }
    EXPECT_TRUE(torch::allclose(total, model_->log_prob(beliefs_, point.expand({3, -1})), 1e-4, 1e-4));
  }
}

TEST_P(EveryArchitecture, AFullBeamRanksEveryOutput) {
  const torch::NoGradGuard no_gradients;
  const auto beam = beam_search(*model_, beliefs_, points_.size(0));
  ASSERT_EQ(beam.values.size(1), points_.size(0));
  for (std::int64_t example = 0; example < 3; ++example) {
    const auto expected = std::get<0>(enumerated(beliefs_[example]).sort(0, /*descending=*/true));
    EXPECT_TRUE(torch::allclose(beam.log_prob[example], expected, 1e-4, 1e-4));
    const auto again =
        model_->log_prob(beliefs_[example].unsqueeze(0).expand({points_.size(0), -1, -1}), beam.values[example]);
    EXPECT_TRUE(torch::allclose(again, expected, 1e-4, 1e-4)) << "the points do not have the scores they came with";
  }
}

TEST_P(EveryArchitecture, AWidthOfOneIsGreedy) {
  const torch::NoGradGuard no_gradients;
  const auto beam = beam_search(*model_, beliefs_, 1);
  auto rollout = model_->begin(beliefs_);
  for (const auto variable : model_->order()) {
    const auto value = rollout->next_log_probs().argmax(1);
    EXPECT_TRUE(torch::equal(beam.values.select(1, 0).select(1, variable), value));
    rollout->advance(value);
  }
}

TEST_P(EveryArchitecture, SamplesFollowTheModel) {
  const torch::NoGradGuard no_gradients;
  constexpr std::int64_t kSamples = 20000;
  const auto samples =
      sample(*model_, beliefs_[0].unsqueeze(0).expand({kSamples, -1, -1}), at::make_generator<at::CPUGeneratorImpl>(5));
  const auto expected = enumerated(beliefs_[0]).exp();
  for (std::int64_t index = 0; index < points_.size(0); ++index) {
    const auto share = (samples.values == points_[index]).all(1).to(torch::kFloat32).mean().item<float>();
    EXPECT_NEAR(share, expected[index].item<float>(), 0.02);
  }
}

TEST_P(EveryArchitecture, GradientsMatchFiniteDifferences) {
  const auto values = points_.slice(0, 1, 4);
  auto beliefs = beliefs_.detach().clone().requires_grad_(true);
  model_->log_prob(beliefs, values).sum().backward();
  auto tensors = model_->parameters();
  std::vector<torch::Tensor> gradients;
  for (const auto& parameter : tensors) gradients.push_back(parameter.grad());
  tensors.push_back(beliefs);
  gradients.push_back(beliefs.grad());
  const torch::NoGradGuard no_gradients;
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    if (!gradients[index].defined()) continue;  // a head that no step of these values used
    // Along one random direction a tensor, with a step small enough to cross few of the rectifiers' kinks.
    const auto direction = torch::randn_like(tensors[index]);
    const double expected = (gradients[index].to(torch::kFloat64) * direction.to(torch::kFloat64)).sum().item<double>();
    const auto original = tensors[index].clone();
    const double step = 1e-3 / std::max(1.0, direction.norm().item<double>() / 4);
    const auto at = [&](double offset) {
      tensors[index].copy_(original + offset * direction);
      return model_->log_prob(beliefs, values).to(torch::kFloat64).sum().item<double>();
    };
    const double measured = (at(step) - at(-step)) / (2 * step);
    tensors[index].copy_(original);
    EXPECT_NEAR(measured, expected, 0.05 * std::abs(expected) + 0.06) << "tensor " << index;
  }
}

TEST_P(EveryArchitecture, FrozenParametersGetNoGradient) {
  auto beliefs = beliefs_.detach().clone().requires_grad_(true);
  {
    const FrozenParameters frozen(*model_);
    model_->log_prob(beliefs, points_.slice(0, 0, 3)).sum().backward();
  }
  EXPECT_TRUE(beliefs.grad().defined());
  for (const auto& parameter : model_->parameters()) {
    EXPECT_FALSE(parameter.grad().defined());
    EXPECT_TRUE(parameter.requires_grad());
  }
}

TEST_P(EveryArchitecture, IsMultilinearWhereItSaysSo) {
  if (!model_->multilinear()) return;
  // q(.|P) = E_{w~P} q(.|w), summed over every world.
  const torch::NoGradGuard no_gradients;
  for (const auto& belief : beliefs_.unbind(0)) {
    auto expected = torch::zeros({points_.size(0)});
    problem_->worlds().for_each_point([&](Values point) {
      const auto world = torch::tensor(std::vector<std::int64_t>(point.begin(), point.end())).unsqueeze(0);
      const auto probability = world_log_prob(belief.unsqueeze(0), world).exp();
      expected += probability * enumerated(certain_beliefs(world, problem_->worlds())[0]).exp();
    });
    EXPECT_TRUE(torch::allclose(enumerated(belief).exp(), expected, 1e-4, 1e-6));
  }
}

// Allows only points whose values do not decrease, by trying every point of the space.
class Sorted final : public Pruner {
 public:
  Sorted(Space space, bool possible = true) : space_(std::move(space)), possible_(possible) {}
  void allow_outputs(Values partial, std::int64_t variable, Mask mask) const override {
    std::ranges::fill(mask, false);
    space_.for_each_point([&](Values point) {
      if (!possible_ || !std::ranges::is_sorted(point)) return;
      for (std::size_t index = 0; index < point.size(); ++index) {
        if (partial[index] != kUnset && partial[index] != point[index]) return;
      }
      mask[static_cast<std::size_t>(point[static_cast<std::size_t>(variable)])] = true;
    });
  }
  void allow_worlds(Values, Values, std::int64_t, Mask) const override {}

 private:
  Space space_;
  bool possible_;
};

TEST_P(EveryArchitecture, PrunedBeamAndSamplesStayWithinWhatIsAllowed) {
  const torch::NoGradGuard no_gradients;
  const auto is_sorted = [](const torch::Tensor& values) { return (values.diff(1, -1) >= 0).all().item<bool>(); };
  const Sorted pruner(problem_->outputs());
  const auto samples = sample(*model_, beliefs_, at::make_generator<at::CPUGeneratorImpl>(5), &pruner);
  EXPECT_TRUE(is_sorted(samples.values)) << samples.values;
  const auto beam = beam_search(*model_, beliefs_, points_.size(0), &pruner);
  EXPECT_TRUE(is_sorted(beam.values)) << beam.values;
  EXPECT_NEAR(beam.log_prob[0].exp().sum().item<float>(), 1, 1e-4);
}

TEST_P(EveryArchitecture, APrefixWithNoCompletionIsAnError) {
  const Sorted nothing(problem_->outputs(), false);
  EXPECT_THROW(beam_search(*model_, beliefs_, 2, &nothing), std::exception);
}

INSTANTIATE_TEST_SUITE_P(Models, EveryArchitecture, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return info.param.architecture + "_" + info.param.problem; });

}  // namespace
}  // namespace anesi
