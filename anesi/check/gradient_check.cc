#include "anesi/check/gradient_check.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/estimate/estimator.h"
#include "anesi/optimize/adam.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr double kMostOfTheGap = 0.99;
constexpr std::int64_t kLookedAtEvery = 5;  // steps of an optimisation

using Gradient = std::function<torch::Tensor(const torch::Tensor& numbers)>;
using AtStep = std::function<bool(std::int64_t step, const torch::Tensor& numbers)>;

torch::Tensor exact_gradient(const GradientProblem& problem, const torch::Tensor& numbers) {
  const auto at = numbers.detach().clone().requires_grad_(true);
  return torch::autograd::grad({problem.exact(problem.parameters_of(at)).sum()}, {at})[0];
}

double exact_value(const GradientProblem& problem, const torch::Tensor& numbers) {
  const torch::NoGradGuard no_gradients;
  return problem.exact(problem.parameters_of(numbers)).item<double>();
}

// Learns and estimates, once.
torch::Tensor estimated_gradient(const GradientProblem& problem, Estimator& estimator, const torch::Tensor& numbers) {
  const auto at = numbers.detach().clone().requires_grad_(true);
  const auto parameters = problem.parameters_of(at);
  estimator.learn(parameters);
  return torch::autograd::grad({estimator.expectation(parameters).sum()}, {at})[0];
}

// Steps of Adam from the start until `visit`, told where it is before each, says that it is enough.
torch::Tensor optimise(const GradientProblem& problem, const Gradient& gradient, std::int64_t steps, double rate,
                       const AtStep& visit) {
  auto numbers = problem.start.clone().requires_grad_(true);
  Adam adam({numbers});
  for (std::int64_t step = 0; step < steps; ++step) {
    if (visit && !visit(step, numbers.detach())) break;
    const auto slope = gradient(numbers.detach());
    numbers.mutable_grad() = problem.maximised ? -slope : slope;
    adam.step(rate);
  }
  return numbers.detach();
}

std::unique_ptr<Estimator> made(const GradientProblem& problem, const ComparedEstimator& compared, std::uint64_t seed) {
  const SeededWeights weights(seed);
  return make_estimator(compared.name, {problem.sources, std::make_shared<BlackBox>(problem.g, 1), seeded(seed)},
                        compared.settings);
}

GradientErrors errors_of(const torch::Tensor& gradients, const torch::Tensor& exact, double calls, bool learns,
                         const GradientCheckOptions& options) {
  const auto trainings = static_cast<double>(options.trainings);
  const auto mean = gradients.mean(0);
  const auto variance = gradients.var(0, /*unbiased=*/true).sum(1);  // [steps]
  const auto bias = (mean - exact).square().sum(1) - variance / trainings;
  const auto at_equal_calls = learns ? variance : variance * (calls / static_cast<double>(options.calls));
  const auto each = bias + at_equal_calls;
  const auto square = exact.square().sum(1).mean().item<double>();
  GradientErrors errors;
  errors.calls = calls;
  errors.bias = std::max(0.0, bias.mean().item<double>());
  errors.variance = at_equal_calls.mean().item<double>();
  errors.error = errors.bias + errors.variance;
  errors.relative = errors.error / square;
  for (std::int64_t step = 0; step < each.size(0); ++step) {
    errors.by_step.push_back(std::max(0.0, each[step].item<double>()) / square);
  }
  return errors;
}

}  // namespace

std::vector<GradientErrors> check_gradients(const GradientProblem& problem,
                                            const std::vector<ComparedEstimator>& estimators,
                                            const GradientCheckOptions& options) {
  if (options.trainings < 2) throw UsageError("trainings: a variance needs at least 2");
  std::vector<torch::Tensor> places, slopes;
  optimise(problem,
           [&](const torch::Tensor& numbers) {
             places.push_back(numbers.clone());
             slopes.push_back(exact_gradient(problem, numbers));
             return slopes.back();
           },
           options.steps, options.learning_rate, {});
  const auto exact = torch::stack(slopes);  // [steps, numbers]
  std::vector<GradientErrors> results;
  for (const auto& compared : estimators) {
    std::vector<torch::Tensor> of_trainings;
    double calls = 0;
    bool learns = false;
    const auto begin = std::chrono::steady_clock::now();
    try {
      for (std::int64_t training = 0; training < options.trainings; ++training) {
        const auto estimator = made(problem, compared, options.seed + static_cast<std::uint64_t>(training));
        learns = estimator->learns();
        std::vector<torch::Tensor> own;
        for (const auto& place : places) own.push_back(estimated_gradient(problem, *estimator, place));
        of_trainings.push_back(torch::stack(own));
        calls += static_cast<double>(estimator->calls());
      }
    } catch (const UsageError&) {
      continue;  // not for this problem
    }
    const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto gradients = static_cast<double>(options.trainings * options.steps);
    auto errors = errors_of(torch::stack(of_trainings), exact, calls / gradients, learns, options);
    errors.estimator = compared.label;
    errors.seconds = seconds / gradients;
    results.push_back(std::move(errors));
  }
  return results;
}

OptimisationCheck check_optimisation(const GradientProblem& problem, const ComparedEstimator& compared,
                                     const GradientCheckOptions& options, std::int64_t patience) {
  OptimisationCheck check{.estimator = compared.label, .trainings = options.trainings};
  const auto exact = [&](const torch::Tensor& numbers) { return exact_gradient(problem, numbers); };
  check.start = exact_value(problem, problem.start);
  check.best = exact_value(problem, optimise(problem, exact, options.steps, options.learning_rate, {}));
  std::vector<double> calls;
  check.least_closed = 1;
  for (std::int64_t training = 0; training < options.trainings; ++training) {
    const auto estimator = made(problem, compared, options.seed + static_cast<std::uint64_t>(training));
    double needed = std::numeric_limits<double>::infinity(), closed = 0;
    const auto look = [&](const torch::Tensor& numbers) {
      closed = (exact_value(problem, numbers) - check.start) / (check.best - check.start);
      if (closed >= kMostOfTheGap) needed = static_cast<double>(estimator->calls());
      return closed < kMostOfTheGap;
    };
    const auto last = optimise(
        problem, [&](const torch::Tensor& numbers) { return estimated_gradient(problem, *estimator, numbers); },
        patience * options.steps, options.learning_rate,
        [&](std::int64_t step, const torch::Tensor& numbers) { return step % kLookedAtEvery != 0 || look(numbers); });
    if (closed < kMostOfTheGap) look(last);
    check.closed += closed / static_cast<double>(options.trainings);
    check.least_closed = std::min(check.least_closed, closed);
    check.reached += closed >= kMostOfTheGap ? 1 : 0;
    calls.push_back(needed);
  }
  std::ranges::sort(calls);
  check.calls = calls[calls.size() / 2];
  return check;
}

}  // namespace anesi
