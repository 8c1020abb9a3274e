// What every architecture of q must get right: for the tests of any architecture, also of those outside this library.
//
//   TEST(MyModel, Conforms) {
//     const auto make = [&] { return anesi::make_model(*my_problem, "mine", /*explain=*/true); };
//     anesi::toys::expect_conforming(make, my_problem);
//   }
//
// The problem must be small: all its worlds and outputs are gone through. The function makes a fresh q each time, its
// weights drawn from torch's generator.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/problem.h"
#include "anesi/core/pruner.h"
#include "anesi/models/beam.h"
#include "anesi/models/inference_model.h"
#include "anesi/models/module_tensors.h"
#include "anesi/models/next_choice.h"
#include "anesi/models/prune.h"
#include "anesi/models/sample.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"

namespace anesi::toys {

// Allows only points whose values do not decrease, or nothing at all, by trying every point of the space.
class SortedPointsPruner final : public Pruner {
 public:
  explicit SortedPointsPruner(Space space, bool possible = true) : space_(std::move(space)), possible_(possible) {}
  void allow_outputs(Values partial, std::int64_t variable, Mask mask) const override {
    space_.for_each_point([&](Values point) {
      const auto fits = [](std::int64_t chosen, std::int64_t value) { return chosen == kUnset || chosen == value; };
      if (!possible_ || !std::ranges::is_sorted(point) || !std::ranges::equal(partial, point, fits)) return;
      mask[as_size(point[as_size(variable)])] = true;
    });
  }
  void allow_worlds(Values, Values partial, std::int64_t variable, Mask mask) const override {
    allow_outputs(partial, variable, mask);
  }

 private:
  Space space_;
  bool possible_;
};

enum class Part { kPrediction, kExplanation };

class ArchitectureConformance {
 public:
  using Make = std::function<InferenceModel()>;

  // `ends_early`: outputs may be shorter than their space, and some are impossible.
  ArchitectureConformance(const Make& make, std::shared_ptr<const Problem> problem, Part part, bool ends_early = false)
      : problem_(std::move(problem)), ends_early_(ends_early) {
    torch::manual_seed(11);
    q_ = make();
    model_ = part == Part::kExplanation ? q_.explanation : q_.prediction;
    beliefs_ = (torch::randn({3, problem_->worlds().variables(), problem_->worlds().largest_domain()}) * 2).exp() *
               uniform_beliefs(3, problem_->worlds());
    beliefs_ = beliefs_ / beliefs_.sum(2, /*keepdim=*/true);
    if (part == Part::kExplanation) outputs_ = apply(*problem_, most_likely_worlds(beliefs_));
    // Networks that normalise by the batch while they learn are looked at as they are at rest.
    q_.eval();
    points_ = all_points(model_->space(), ends_early_);
  }

  // q of every point.
  void expect_to_sum_to_one() {
    for (std::int64_t row = 0; row < 3; ++row) EXPECT_NEAR(enumerated(row).exp().sum().item<float>(), 1, 1e-5);
  }

  void expect_the_product_of_its_steps() {
    const torch::NoGradGuard no_gradients;
    for (const auto& point : points_.unbind(0)) {
      auto rollout = model_->begin(context());
      auto total = torch::zeros({3});
      for (const auto variable : model_->order()) {
        const auto choice = next_choice(*rollout);
        ASSERT_EQ(choice.log_probs.size(1), model_->space().domain(variable));
        const auto value = point[variable].expand({3});
        total += choice.log_prob(value);
        rollout->advance(value);
      }
      EXPECT_TRUE(torch::allclose(total, model_->log_prob(context(), point.expand({3, -1})), 1e-4, 1e-4));
    }
  }

  void expect_a_full_beam_to_rank_all() {
    const torch::NoGradGuard no_gradients;
    const auto beam = beam_search(*model_, context(), points_.size(0));
    if (!ends_early_) {
      ASSERT_EQ(beam.values.size(1), points_.size(0));
    }
    for (std::int64_t example = 0; example < 3; ++example) {
      const auto all = std::get<0>(enumerated(example).sort(0, /*descending=*/true));
      const auto possible = all.isfinite().sum().item<std::int64_t>();
      ASSERT_EQ(beam.log_prob[example].isfinite().sum().item<std::int64_t>(), possible);
      if (!ends_early_) {
        ASSERT_EQ(possible, points_.size(0));
      }
      const auto expected = all.slice(0, 0, possible);
      EXPECT_TRUE(torch::allclose(beam.log_prob[example].slice(0, 0, possible), expected, 1e-4, 1e-4));
      const auto again = model_->log_prob(repeated(example, possible), beam.values[example].slice(0, 0, possible));
      EXPECT_TRUE(torch::allclose(again, expected, 1e-4, 1e-4)) << "the points do not have the scores they came with";
    }
  }

  void expect_a_width_of_one_to_be_greedy() {
    const torch::NoGradGuard no_gradients;
    const auto beam = beam_search(*model_, context(), 1);
    auto rollout = model_->begin(context());
    for (const auto variable : model_->order()) {
      const auto choice = next_choice(*rollout);
      const auto value = choice.values(choice.log_probs.argmax(1));
      EXPECT_TRUE(torch::equal(beam.values.select(1, 0).select(1, variable), value));
      rollout->advance(value);
    }
  }

  void expect_samples_to_follow_it() {
    const torch::NoGradGuard no_gradients;
    constexpr std::int64_t kSamples = 20000;
    const auto samples = sample(*model_, repeated(0, kSamples), seeded(5));
    const auto expected = enumerated(0).exp();
    for (std::int64_t index = 0; index < points_.size(0); ++index) {
      const auto share = (samples.values == points_[index]).all(1).to(torch::kFloat32).mean().item<float>();
      EXPECT_NEAR(share, expected[index].item<float>(), 0.02);
    }
  }

  // With a step so small that it crosses none of the rectifiers' kinks. For models that compute in 64 bits if their
  // weights and beliefs have as many.
  void expect_gradients_of_differences() {
    const auto possible = enumerated(0).isfinite();
    q_.prediction->to(torch::kFloat64);
    if (ends_early_) {
      // Biases that are zero at first put some rectifiers just at their kinks.
      const torch::NoGradGuard no_gradients;
      for (auto& parameter : q_.prediction->parameters()) parameter.add_(0.1 * torch::randn_like(parameter));
    }
    if (q_.explanation) q_.explanation->to(torch::kFloat64);
    // Of walks, some that are possible.
    const auto values = ends_early_ ? points_.index({possible}).slice(0, 0, 3) : points_.slice(0, 1, 4);
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

  // Perception learns through a q whose weights ask for no gradient: none is computed for them.
  void expect_gradients_of_beliefs_alone() {
    for (auto parameter : q_.prediction->parameters()) parameter.set_requires_grad(false);
    auto beliefs = beliefs_.detach().clone().requires_grad_(true);
    q_.prediction->log_prob(beliefs, apply(*problem_, most_likely_worlds(beliefs_))).sum().backward();
    EXPECT_TRUE(beliefs.grad().defined());
    for (const auto& parameter : q_.prediction->parameters()) EXPECT_FALSE(parameter.grad().defined());
  }

  void expect_threads_to_change_nothing() {
    constexpr int kThreads = 3, kTimes = 20;
    const auto expected = answers_of(q_, *model_, context());
    const auto before = copied(model_tensors(q_));
    std::vector<std::string> failures;
    std::mutex mutex;
    const auto fail = [&](const std::string& how) {
      const std::lock_guard lock(mutex);
      failures.push_back(how);
    };
    std::barrier together(kThreads);
    const auto ask = [&] {
      together.arrive_and_wait();
      for (int time = 0; time < kTimes; ++time) {
        try {
          const auto answers = answers_of(q_, *model_, context());
          for (std::size_t place = 0; place < expected.size(); ++place) {
            if (!torch::equal(answers[place], expected[place])) fail("answer " + std::to_string(place) + " differs");
          }
        } catch (const std::exception& error) {
          fail(error.what());
        }
      }
    };
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(ask);
    for (auto& thread : threads) thread.join();
    EXPECT_TRUE(failures.empty()) << failures.size() << " failures, the first: " << failures[0];
    const auto after = model_tensors(q_);
    ASSERT_EQ(after.size(), before.size());
    for (const auto& [name, tensor] : before) EXPECT_TRUE(torch::equal(tensor, after.at(name))) << name;
    for (const auto& parameter : model_->parameters()) {
      EXPECT_TRUE(parameter.requires_grad());
      EXPECT_FALSE(parameter.grad().defined());
    }
  }

  // Of a model that says it is multilinear: q(.|P) = E_{w~P} q(.|w), summed over every world.
  void expect_the_mean_over_worlds() {
    const torch::NoGradGuard no_gradients;
    for (std::int64_t row = 0; row < 3; ++row) {
      auto expected = torch::zeros({points_.size(0)});
      problem_->worlds().for_each_point([&](Values point) {
        const auto world = tensor_of(point).unsqueeze(0);
        const auto probability = world_log_prob(beliefs_[row].unsqueeze(0), world).exp();
        const auto certain = certain_beliefs(world, problem_->worlds()).expand({points_.size(0), -1, -1});
        expected += probability * model_->log_prob(certain, points_).exp();
      });
      EXPECT_TRUE(torch::allclose(enumerated(row).exp(), expected, 1e-4, 1e-6));
    }
  }

  void expect_to_stay_within_what_is_allowed() {
    const torch::NoGradGuard no_gradients;
    const auto is_sorted = [this](const torch::Tensor& values) {  // as far as they go
      return (values.masked_fill(values == kNone, model_->space().largest_domain()).diff(1, -1) >= 0)
          .all()
          .item<bool>();
    };
    const SortedPointsPruner pruner(model_->space());
    const SymbolicPruning pruning(pruner);
    const auto samples = sample(*model_, context(), seeded(5), &pruning);
    EXPECT_TRUE(is_sorted(samples.values)) << samples.values;
    EXPECT_TRUE(torch::allclose(samples.log_prob, log_prob(*model_, context(), samples.values, &pruning), 1e-4, 1e-4));
    const auto beam = beam_search(*model_, context(), points_.size(0), &pruning);
    EXPECT_TRUE(is_sorted(beam.values)) << beam.values;
    EXPECT_NEAR(beam.log_prob[0].exp().sum().item<float>(), 1, 1e-4);
  }

  // Of a model whose rollouts have gradients: the normaliser is part of the graph. In 64 bits, as above.
  void expect_gradients_of_the_pruned_model() {
    const SortedPointsPruner pruner(model_->space());
    const SymbolicPruning pruning(pruner);
    model_->to(torch::kFloat64);
    beliefs_ = beliefs_.to(torch::kFloat64);
    // Of walks, some that are possible.
    const auto values = ends_early_ ? beam_search(*model_, context(), 1, &pruning).values.select(1, 0).detach()
                                    : torch::zeros({3, model_->space().variables()}, torch::kInt64);
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

  void expect_an_error_without_completion() {
    const SortedPointsPruner nothing(model_->space(), false);
    const SymbolicPruning pruning(nothing);
    EXPECT_THROW(beam_search(*model_, context(), 2, &pruning), Error);
  }

  // Of an explanation.
  void expect_a_joint_beam_to_rank_all() {
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

  bool multilinear() const { return model_->multilinear(); }
  bool rollouts_have_gradients() const { return model_->rollouts_have_gradients(); }

 private:
  // All that a model can be asked, as somebody asks who knows nothing of others who ask too.
  static std::vector<torch::Tensor> answers_of(const InferenceModel& q, SequenceModel& model, const Context& context) {
    q.eval();
    std::vector<torch::Tensor> answers;
    torch::Tensor likely;
    {
      const torch::NoGradGuard no_gradients;
      const auto beam = beam_search(model, context, 3);
      likely = beam.values.select(1, 0).contiguous();
      const auto drawn = sample(model, context, seeded(3));
      answers = {beam.values, beam.log_prob, drawn.values, drawn.log_prob, model.log_prob(context, drawn.values)};
      if (const auto best = model.most_probable(context)) {
        answers.insert(answers.end(), {best->worlds, best->log_prob});
      }
      if (q.explanation) {
        const auto joint = joint_beam_search(q, context.beliefs, 3);
        answers.insert(answers.end(), {joint.outputs, joint.worlds, joint.log_prob});
      }
    }
    const auto beliefs = context.beliefs.detach().clone().requires_grad_(true);
    const auto log_prob = model.log_prob({beliefs, context.outputs}, likely);
    answers.push_back(torch::autograd::grad({log_prob.sum()}, {beliefs})[0]);
    answers.push_back(log_prob.detach());
    return answers;
  }

  // Every point of a space and, where points may end early, every one that does, int64 [points, variables].
  static torch::Tensor all_points(const Space& space, bool end_early) {
    if (!end_early) return points_of(space);
    std::vector<torch::Tensor> points{torch::full({1, space.variables()}, kNone, torch::kInt64)};
    for (std::int64_t length = 1; length <= space.variables(); ++length) {
      const auto& domains = space.domains();
      const auto begun = points_of(Space({domains.begin(), domains.begin() + length}));
      points.push_back(torch::constant_pad_nd(begun, {0, space.variables() - length}, kNone));
    }
    return torch::cat(points);
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

  std::shared_ptr<const Problem> problem_;
  bool ends_early_;
  InferenceModel q_;
  std::shared_ptr<SequenceModel> model_;  // one of q_
  torch::Tensor beliefs_;                 // [3, variables, domain]
  torch::Tensor outputs_;                 // [3, outputs] where worlds are explained
  torch::Tensor points_;                  // every point of the model's space, [points, variables]
};

// All of it, for the prediction and, if there is one, the explanation. `in_64_bits`: it computes in 64 bits if its
// weights and beliefs have as many, so that gradients can be compared with differences.
inline void expect_conforming(const ArchitectureConformance::Make& make, const std::shared_ptr<const Problem>& problem,
                              bool ends_early = false, bool in_64_bits = true) {
  using Check = void (ArchitectureConformance::*)();
  for (const auto part : {Part::kPrediction, Part::kExplanation}) {
    if (part == Part::kExplanation && !make().explanation) continue;
    const auto expect = [&](Check check) { (ArchitectureConformance(make, problem, part, ends_early).*check)(); };
    expect(&ArchitectureConformance::expect_to_sum_to_one);
    expect(&ArchitectureConformance::expect_the_product_of_its_steps);
    expect(&ArchitectureConformance::expect_a_full_beam_to_rank_all);
    expect(&ArchitectureConformance::expect_a_width_of_one_to_be_greedy);
    expect(&ArchitectureConformance::expect_samples_to_follow_it);
    expect(&ArchitectureConformance::expect_gradients_of_beliefs_alone);
    expect(&ArchitectureConformance::expect_threads_to_change_nothing);
    expect(&ArchitectureConformance::expect_to_stay_within_what_is_allowed);
    expect(&ArchitectureConformance::expect_an_error_without_completion);
    const ArchitectureConformance looked_at(make, problem, part, ends_early);
    if (in_64_bits) expect(&ArchitectureConformance::expect_gradients_of_differences);
    if (in_64_bits && looked_at.rollouts_have_gradients()) {
      expect(&ArchitectureConformance::expect_gradients_of_the_pruned_model);
    }
    if (looked_at.multilinear()) expect(&ArchitectureConformance::expect_the_mean_over_worlds);
    if (part == Part::kExplanation) expect(&ArchitectureConformance::expect_a_joint_beam_to_rank_all);
  }
}

}  // namespace anesi::toys
