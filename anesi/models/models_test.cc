// What every architecture must get right, checked for all that are registered.
#include <gtest/gtest.h>

#include "anesi/core/beliefs.h"
#include "anesi/core/error.h"
#include "anesi/core/problem.h"
#include "anesi/core/seeded.h"
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

// Each output is of two variables: whether they differ.
class Pairs final : public Problem {
 public:
  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply(Values w, MutableValues y) const override {
    y[0] = w[0] != w[1] ? 1 : 0;
    y[1] = w[1] != w[2] ? 1 : 0;
    y[2] = w[0] != w[2] ? 1 : 0;
  }
  std::vector<VariablePair> pairs() const override { return {{0, 1}, {1, 2}, {0, 2}}; }

 private:
  Space worlds_ = Space::uniform(3, 3), outputs_ = Space::uniform(3, 2);
};

struct Case {
  std::string architecture, problem;
  bool explains;  // q(w|y,P) rather than q(y|P)

  std::string name() const { return architecture + "_" + problem + (explains ? "_explanation" : "_prediction"); }
  friend void PrintTo(const Case& the_case, std::ostream* out) { *out << the_case.name(); }
};

std::unique_ptr<Problem> problem_of(const Case& the_case) {
  if (the_case.problem == "addition") return std::make_unique<TernaryAddition>();
  if (the_case.problem == "pairs") return std::make_unique<Pairs>();
  return uneven();
}

InferenceModel build(const Case& the_case, const Problem& problem) {
  return architectures().at(the_case.architecture).make()->build(problem, the_case.explains);
}

// Whether an architecture is for problems like this at all.
bool fits(const Case& the_case) {
  if (the_case.architecture == "pairwise") return the_case.problem == "pairs" && !the_case.explains;
  return the_case.architecture != "grid" &&
         the_case.architecture != "resnet";  // for walks; they have tests of their own
}

// Every architecture on every problem, as prediction and as explanation; or those of them that `wanted` says.
std::vector<Case> cases_where(const std::function<bool(const SequenceModel&)>& wanted) {
  std::vector<Case> cases;
  for (const auto& [name, entry] : architectures()) {
    for (const char* problem : {"addition", "uneven", "pairs"}) {
      for (const bool explains : {false, true}) {
        const Case the_case{name, problem, explains};
        if (!fits(the_case)) continue;
        const auto q = build(the_case, *problem_of(the_case));
        if (wanted(explains ? *q.explanation : *q.prediction)) cases.push_back(the_case);
      }
    }
  }
  return cases;
}

class EveryArchitecture : public testing::TestWithParam<Case> {
 protected:
  EveryArchitecture() {
    torch::manual_seed(11);
    problem_ = problem_of(GetParam());
    q_ = build(GetParam(), *problem_);
    model_ = GetParam().explains ? q_.explanation : q_.prediction;
    beliefs_ = (torch::randn({3, problem_->worlds().variables(), problem_->worlds().largest_domain()}) * 2).exp() *
               uniform_beliefs(3, problem_->worlds());
    beliefs_ = beliefs_ / beliefs_.sum(2, /*keepdim=*/true);
    if (GetParam().explains) outputs_ = problem_->apply_batch(most_likely_worlds(beliefs_));
    std::vector<torch::Tensor> points;
    model_->space().for_each_point(
        [&](Values point) { points.push_back(torch::tensor(std::vector<std::int64_t>(point.begin(), point.end()))); });
    points_ = torch::stack(points);
  }

  Context context() const { return {beliefs_, outputs_}; }
  // One row of the context, over and over.
  Context repeated(std::int64_t example, std::int64_t times) const {
    return {beliefs_[example].unsqueeze(0).expand({times, -1, -1}),
            outputs_.defined() ? outputs_[example].unsqueeze(0).expand({times, -1}) : outputs_};
  }

  // log q of every point for one row of the context, [points].
  torch::Tensor enumerated(std::int64_t example) {
    return model_->log_prob(repeated(example, points_.size(0)), points_);
  }

  std::unique_ptr<Problem> problem_;
  InferenceModel q_;
  std::shared_ptr<SequenceModel> model_;  // one of q_
  torch::Tensor beliefs_;                 // [3, variables, domain]
  torch::Tensor outputs_;                 // [3, outputs] where worlds are explained
  torch::Tensor points_;                  // every point of the model's space, [points, variables]
};

TEST_P(EveryArchitecture, SumsToOne) {
  for (std::int64_t row = 0; row < 3; ++row) EXPECT_NEAR(enumerated(row).exp().sum().item<float>(), 1, 1e-5);
}

TEST_P(EveryArchitecture, LogProbIsTheProductOfItsSteps) {
  const torch::NoGradGuard no_gradients;
  for (const auto& point : points_.unbind(0)) {
    auto rollout = model_->begin(context());
    auto total = torch::zeros({3});
    for (const auto variable : model_->order()) {
      const auto log_probs = rollout->next_log_probs();
      ASSERT_EQ(log_probs.size(1), model_->space().domain(variable));
      const auto value = point[variable].expand({3});
      total += log_probs.gather(1, value.unsqueeze(1)).squeeze(1);
      rollout->advance(value);
    }
    EXPECT_TRUE(torch::allclose(total, model_->log_prob(context(), point.expand({3, -1})), 1e-4, 1e-4));
  }
}

TEST_P(EveryArchitecture, AFullBeamRanksEveryOutput) {
  const torch::NoGradGuard no_gradients;
  const auto beam = beam_search(*model_, context(), points_.size(0));
  ASSERT_EQ(beam.values.size(1), points_.size(0));
  for (std::int64_t example = 0; example < 3; ++example) {
    const auto expected = std::get<0>(enumerated(example).sort(0, /*descending=*/true));
    EXPECT_TRUE(torch::allclose(beam.log_prob[example], expected, 1e-4, 1e-4));
    const auto again = model_->log_prob(repeated(example, points_.size(0)), beam.values[example]);
    EXPECT_TRUE(torch::allclose(again, expected, 1e-4, 1e-4)) << "the points do not have the scores they came with";
  }
}

TEST_P(EveryArchitecture, AWidthOfOneIsGreedy) {
  const torch::NoGradGuard no_gradients;
  const auto beam = beam_search(*model_, context(), 1);
  auto rollout = model_->begin(context());
  for (const auto variable : model_->order()) {
    const auto value = rollout->next_log_probs().argmax(1);
    EXPECT_TRUE(torch::equal(beam.values.select(1, 0).select(1, variable), value));
    rollout->advance(value);
  }
}

TEST_P(EveryArchitecture, SamplesFollowTheModel) {
  const torch::NoGradGuard no_gradients;
  constexpr std::int64_t kSamples = 20000;
  const auto samples = sample(*model_, repeated(0, kSamples), seeded(5));
  const auto expected = enumerated(0).exp();
  for (std::int64_t index = 0; index < points_.size(0); ++index) {
    const auto share = (samples.values == points_[index]).all(1).to(torch::kFloat32).mean().item<float>();
    EXPECT_NEAR(share, expected[index].item<float>(), 0.02);
  }
}

// In 64 bits, with a step so small that it crosses none of the rectifiers' kinks.
TEST_P(EveryArchitecture, GradientsMatchFiniteDifferences) {
  q_.prediction->to(torch::kFloat64);
  if (q_.explanation) q_.explanation->to(torch::kFloat64);
  const auto values = points_.slice(0, 1, 4);
  auto beliefs = beliefs_.detach().to(torch::kFloat64).requires_grad_(true);
  const auto log_prob = [&] { return model_->log_prob({beliefs, outputs_}, values).sum(); };
  auto tensors = q_.prediction->parameters();
  if (q_.explanation) {
    const auto more = q_.explanation->parameters();
    tensors.insert(tensors.end(), more.begin(), more.end());
  }
  tensors.push_back(beliefs);
  log_prob().backward();
  const torch::NoGradGuard no_gradients;
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    if (!tensors[index].grad().defined()) continue;  // a head that no step of these values used
    const auto direction = torch::randn_like(tensors[index]);
    const auto expected = (tensors[index].grad() * direction).sum().item<double>();
    const auto original = tensors[index].clone();
    const auto at = [&](double offset) {
      tensors[index].copy_(original + offset * direction);
      return log_prob().item<double>();
    };
    const double step = 1e-8;
    const double measured = (at(step) - at(-step)) / (2 * step);
    tensors[index].copy_(original);
    EXPECT_NEAR(measured, expected, 1e-5 * std::abs(expected) + 1e-6) << "tensor " << index;
  }
}

TEST_P(EveryArchitecture, FrozenParametersGetNoGradient) {
  auto beliefs = beliefs_.detach().clone().requires_grad_(true);
  {
    const FrozenParameters frozen(*q_.prediction);
    q_.prediction->log_prob(beliefs, problem_->apply_batch(most_likely_worlds(beliefs_))).sum().backward();
  }
  EXPECT_TRUE(beliefs.grad().defined());
  for (const auto& parameter : q_.prediction->parameters()) {
    EXPECT_FALSE(parameter.grad().defined());
    EXPECT_TRUE(parameter.requires_grad());
  }
}

class EveryMultilinearModel : public EveryArchitecture {};

TEST_P(EveryMultilinearModel, IsTheMeanOfItselfOverWorlds) {
  // q(.|P) = E_{w~P} q(.|w), summed over every world.
  const torch::NoGradGuard no_gradients;
  for (std::int64_t row = 0; row < 3; ++row) {
    auto expected = torch::zeros({points_.size(0)});
    problem_->worlds().for_each_point([&](Values point) {
      const auto world = torch::tensor(std::vector<std::int64_t>(point.begin(), point.end())).unsqueeze(0);
      const auto probability = world_log_prob(beliefs_[row].unsqueeze(0), world).exp();
      const auto certain = certain_beliefs(world, problem_->worlds()).expand({points_.size(0), -1, -1});
      expected += probability * model_->log_prob(certain, points_).exp();
    });
    EXPECT_TRUE(torch::allclose(enumerated(row).exp(), expected, 1e-4, 1e-6));
  }
}

// Allows only points whose values do not decrease, by trying every point of the space.
class Sorted final : public Pruner {
 public:
  explicit Sorted(Space space, bool possible = true) : space_(std::move(space)), possible_(possible) {}
  void allow_outputs(Values partial, std::int64_t variable, Mask mask) const override {
    space_.for_each_point([&](Values point) {
      const auto fits = [](std::int64_t chosen, std::int64_t value) { return chosen == kUnset || chosen == value; };
      if (!possible_ || !std::ranges::is_sorted(point) || !std::ranges::equal(partial, point, fits)) return;
      mask[static_cast<std::size_t>(point[static_cast<std::size_t>(variable)])] = true;
    });
  }
  void allow_worlds(Values, Values partial, std::int64_t variable, Mask mask) const override {
    allow_outputs(partial, variable, mask);
  }

 private:
  Space space_;
  bool possible_;
};

TEST_P(EveryArchitecture, PrunedBeamAndSamplesStayWithinWhatIsAllowed) {
  const torch::NoGradGuard no_gradients;
  const auto is_sorted = [](const torch::Tensor& values) { return (values.diff(1, -1) >= 0).all().item<bool>(); };
  const Sorted pruner(model_->space());
  const SymbolicPruning pruning(pruner);
  const auto samples = sample(*model_, context(), seeded(5), &pruning);
  EXPECT_TRUE(is_sorted(samples.values)) << samples.values;
  EXPECT_TRUE(torch::allclose(samples.log_prob, log_prob(*model_, context(), samples.values, &pruning), 1e-4, 1e-4));
  const auto beam = beam_search(*model_, context(), points_.size(0), &pruning);
  EXPECT_TRUE(is_sorted(beam.values)) << beam.values;
  EXPECT_NEAR(beam.log_prob[0].exp().sum().item<float>(), 1, 1e-4);
}

class EveryDifferentiableRollout : public EveryArchitecture {};

// The normaliser is part of the graph: gradients are those of the pruned model, by finite differences.
TEST_P(EveryDifferentiableRollout, HasTheGradientsOfThePrunedModel) {
  const Sorted pruner(model_->space());
  const SymbolicPruning pruning(pruner);
  model_->to(torch::kFloat64);
  beliefs_ = beliefs_.to(torch::kFloat64);
  const auto values = torch::zeros({3, model_->space().variables()}, torch::kInt64);
  const auto weights = model_->parameters();
  auto weight = weights[weights.size() > 1 ? 1 : 0];
  log_prob(*model_, context(), values, &pruning).sum().backward();
  const torch::NoGradGuard no_gradients;
  const auto direction = torch::randn_like(weight);
  const auto expected = (weight.grad() * direction).sum().item<double>();
  const auto at = [&](double offset) {
    weight.add_(direction, offset);
    const auto value = log_prob(*model_, context(), values, &pruning).sum().item<double>();
    weight.sub_(direction, offset);
    return value;
  };
  EXPECT_NEAR((at(1e-8) - at(-1e-8)) / 2e-8, expected, 1e-5 * std::abs(expected) + 1e-6);
}

TEST_P(EveryArchitecture, APrefixWithNoCompletionIsAnErrorThatNamesIt) {
  const Sorted nothing(model_->space(), false);
  const SymbolicPruning pruning(nothing);
  try {
    beam_search(*model_, context(), 2, &pruning);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no completion of"), std::string::npos) << error.what();
  }
}

class EveryExplanation : public EveryArchitecture {};

TEST_P(EveryExplanation, JoinsPredictionsInABeamThatRanksOutputsAndWorlds) {
  const torch::NoGradGuard no_gradients;
  const auto all = points_.size(0) * static_cast<std::int64_t>(problem_->outputs().points());
  const auto beam = joint_beam_search(q_, beliefs_, all);
  EXPECT_NEAR(beam.log_prob[1].exp().sum().item<double>(), 1, 1e-4);
  const auto rows = beliefs_[1].unsqueeze(0).expand({all, -1, -1});
  const auto again = q_.prediction->log_prob(rows, beam.outputs[1]) +
                     q_.explanation->log_prob({rows, beam.outputs[1]}, beam.worlds[1]);
  EXPECT_TRUE(torch::allclose(again, beam.log_prob[1], 1e-3, 1e-3));
  EXPECT_TRUE((beam.log_prob[1].diff() <= 1e-6).all().item<bool>()) << "not ranked";
}

std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name(); }

INSTANTIATE_TEST_SUITE_P(Models, EveryArchitecture,
                         testing::ValuesIn(cases_where([](const SequenceModel&) { return true; })), name_of);
INSTANTIATE_TEST_SUITE_P(Models, EveryMultilinearModel,
                         testing::ValuesIn(cases_where([](const auto& model) { return model.multilinear(); })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Models, EveryDifferentiableRollout, testing::ValuesIn(cases_where([](const auto& model) {
                           return model.rollouts_have_gradients();
                         })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Models, EveryExplanation, testing::ValuesIn([] {
                           auto cases = cases_where([](const SequenceModel&) { return true; });
                           std::erase_if(cases, [](const Case& the_case) { return !the_case.explains; });
                           return cases;
                         }()),
                         name_of);

}  // namespace
}  // namespace anesi
