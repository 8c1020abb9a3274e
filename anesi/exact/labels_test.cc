// Labels of every kind by every registered back end, beside brute force: log-probabilities, gradients, second
// derivatives.
#include "anesi/exact/labels.h"

#include <gtest/gtest.h>

#include <map>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/exact/backends.h"
#include "anesi/testing/random_problems.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

using toys::Chances;
using toys::Gradient;
using toys::Label;
using toys::LogBelief;
using toys::Oracle;

// A batch of beliefs and labels as the engine takes them; what stands past a domain does not count.
struct Batch {
  Batch(const Space& worlds, const Space& outputs, std::int64_t size)
      : width(worlds.largest_domain() + 1),
        logs(as_size(size * worlds.variables() * width), 7),
        outputs_of_each(size, outputs.variables(), kUnset),
        worlds_of_each(size, worlds.variables(), kUnset),
        holds(std::make_unique<bool[]>(as_size(size))),
        beliefs{logs.data(), size, worlds.variables(), width} {}

  void set(std::int64_t row, const LogBelief& belief, const Label& label) {
    for (std::size_t i = 0; i < belief.size(); ++i)
      std::ranges::copy(belief[i], &beliefs(row, static_cast<std::int64_t>(i), 0));
    if (!label.output.empty()) std::ranges::copy(label.output, outputs_of_each[row].begin());
    if (!label.world.empty()) std::ranges::copy(label.world, worlds_of_each[row].begin());
    holds[as_size(row)] = label.holds;
  }
  LabelRows labels(bool with_outputs) const {
    return {with_outputs ? outputs_of_each.rows() : PointRows(),
            with_outputs ? std::span(holds.get(), as_size(beliefs.size)) : std::span<const bool>(),
            worlds_of_each.rows()};
  }

  std::int64_t width;
  std::vector<double> logs;
  Points outputs_of_each, worlds_of_each;
  std::unique_ptr<bool[]> holds;
  GradientRows beliefs;
};

testing::AssertionResult near(double found, double expected) {
  if (found == expected || std::abs(found - expected) <= 1e-9 * std::max(1.0, std::abs(expected))) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "found " << found << ", expected " << expected;
}

// The derivative by logits whose softmax the belief is, from that by logarithms.
Gradient by_logits(const GradientRows& slope, std::int64_t row, const LogBelief& belief) {
  Gradient result;
  for (std::size_t i = 0; i < belief.size(); ++i) {
    auto& of_values = result.emplace_back();
    double sum = 0;
    for (std::size_t v = 0; v < belief[i].size(); ++v) {
      of_values.push_back(slope(row, static_cast<std::int64_t>(i), static_cast<std::int64_t>(v)));
      sum += of_values.back();
    }
    for (std::size_t v = 0; v < belief[i].size(); ++v) of_values[v] -= sum * std::exp(belief[i][v]);
  }
  return result;
}

void compare(const Backend& backend, const Oracle& oracle, const std::vector<LogBelief>& beliefs,
             const std::vector<Label>& labels, bool with_outputs) {
  const auto size = std::ssize(labels);
  Batch batch(backend.worlds(), backend.outputs(), size);
  for (std::int64_t row = 0; row < size; ++row) batch.set(row, beliefs[as_size(row)], labels[as_size(row)]);
  std::vector<double> found(as_size(size)), joint(as_size(size)), slopes(batch.logs.size(), 1);
  const GradientRows slope(slopes.data(), size, batch.beliefs.variables, batch.width);
  label_log_prob(backend, batch.beliefs, batch.labels(with_outputs), found, slope);
  label_log_prob(backend, batch.beliefs, batch.labels(with_outputs), joint, {}, WholeWorlds::kJoint);
  for (std::int64_t row = 0; row < size; ++row) {
    const auto& belief = beliefs[as_size(row)];
    const auto& label = labels[as_size(row)];
    SCOPED_TRACE(toys::told(belief, label));
    const double expected = oracle.log_prob(belief, label);
    ASSERT_TRUE(near(found[as_size(row)], expected));
    if (!label.output.empty()) {
      ASSERT_TRUE(near(joint[as_size(row)], oracle.log_sum(belief, label)));
    }
    const auto by_logit = by_logits(slope, row, belief), wanted = oracle.gradient(belief, label);
    for (std::size_t i = 0; i < belief.size(); ++i) {
      for (std::size_t v = 0; v < belief[i].size(); ++v)
        ASSERT_NEAR(by_logit[i][v], wanted[i][v], 1e-9) << i << ", " << v;
    }
  }
}

TEST(Labels, OfEveryKindAreTheOracles) {
  const toys::RandomSeed seed;
  std::map<std::string, int> asked;
  for (int index = 0; index < 300; ++index) {
    Chances chances(seed + 1'000'003 * static_cast<std::uint64_t>(index));
    const auto problem = toys::random_problem(chances).second;
    const Oracle oracle(*problem);
    const auto size = chances.one_of({0, 1, 1, 2, 7, 40});
    const bool with_outputs = !chances.chance(0.1);
    std::vector<LogBelief> beliefs;
    std::vector<Label> labels;
    for (int row = 0; row < size; ++row) {
      beliefs.push_back(toys::random_log_belief(chances, problem->worlds()));
      auto label = toys::random_label(chances, oracle, problem->outputs());
      if (!with_outputs) label = {.world = label.world};
      if (with_outputs && label.output.empty()) label.output.assign(as_size(problem->outputs().variables()), kUnset);
      labels.push_back(std::move(label));
    }
    for (const auto& [name, entry] : backends().all()) {
      const ExactOptions options{.method = name};
      if (entry.is_approximate || !entry.applies(*problem, options)) continue;
      const auto backend = make_backend(name, *problem);
      if (!backend->is_exact()) continue;
      SCOPED_TRACE(testing::Message() << "problem " << index << " by " << name);
      compare(*backend, oracle, beliefs, labels, with_outputs);
      ++asked[name];
      if (testing::Test::HasFatalFailure()) return;
    }
  }
  for (const auto& [name, times] : asked) std::cout << times << " by " << name << "\n";
}

TEST(Labels, HaveTheirSecondDerivatives) {
  const toys::RandomSeed seed;
  for (int index = 0; index < 100; ++index) {
    Chances chances(seed + 1'000'003 * static_cast<std::uint64_t>(index));
    const auto problem = toys::random_problem(chances).second;
    const Oracle oracle(*problem);
    const auto backend = make_backend("enumerate", *problem);
    Batch batch(problem->worlds(), problem->outputs(), 1);
    LogBelief belief;
    for (const auto domain : problem->worlds().domains()) {
      auto& logs = belief.emplace_back();
      for (std::int64_t value = 0; value < domain; ++value) logs.push_back(chances.normal());
    }
    auto label = toys::random_label(chances, oracle, problem->outputs());
    if (label.output.empty()) continue;
    batch.set(0, belief, label);
    auto direction = batch.logs, product = batch.logs;
    for (auto& number : direction) number = chances.normal();
    const auto row = [&](std::vector<double>& numbers) {
      return GradientRows(numbers.data(), 1, batch.beliefs.variables, batch.width);
    };
    label_hessian_product(*backend, batch.beliefs, batch.labels(true), row(direction), row(product));
    // The same by the difference of two gradients.
    constexpr double kStep = 1e-4;
    std::vector<double> log_prob(1), ahead(batch.logs.size()), behind(batch.logs.size());
    const auto gradient_at = [&](double step, std::vector<double>& gradient) {
      auto moved = batch.logs;
      for (std::size_t place = 0; place < moved.size(); ++place) moved[place] += step * direction[place];
      label_log_prob(*backend, row(moved), batch.labels(true), log_prob, row(gradient));
    };
    gradient_at(kStep, ahead);
    gradient_at(-kStep, behind);
    SCOPED_TRACE(toys::told(belief, label));
    for (std::int64_t variable = 0; variable < problem->worlds().variables(); ++variable) {
      for (std::int64_t value = 0; value < problem->worlds().domain(variable); ++value) {
        const auto place = as_size(variable * batch.width + value);
        ASSERT_NEAR(product[place], (ahead[place] - behind[place]) / (2 * kStep), 1e-6) << variable << ", " << value;
      }
    }
  }
}

TEST(Labels, OfOtherShapesAreRefused) {
  const auto sum = make_problem({3, 3}, {5}, [](Values w, MutableValues y) { y[0] = w[0] + w[1]; });
  const auto backend = make_backend("enumerate", *sum);
  Batch batch(sum->worlds(), sum->outputs(), 2);
  std::vector<double> log_probs(2);
  const Points short_worlds(2, 1), outside{{3, 0}, {0, 0}}, fewer(1, 1);
  const LogBeliefRows narrow(batch.logs.data(), 2, 2, 2);
  EXPECT_THROW(label_log_prob(*backend, batch.beliefs, {.worlds = short_worlds}, log_probs), Error);
  EXPECT_THROW(label_log_prob(*backend, batch.beliefs, {.worlds = outside}, log_probs), Error);
  EXPECT_THROW(label_log_prob(*backend, batch.beliefs, {.outputs = fewer}, log_probs), Error);
  EXPECT_THROW(label_log_prob(*backend, narrow, {.outputs = batch.outputs_of_each}, log_probs), Error);
  batch.outputs_of_each[1][0] = 5;
  EXPECT_THROW(label_log_prob(*backend, batch.beliefs, {.outputs = batch.outputs_of_each}, log_probs), Error);
}

}  // namespace
}  // namespace anesi
