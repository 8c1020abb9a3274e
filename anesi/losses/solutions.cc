#include "anesi/losses/solutions.h"

#include <cmath>
#include <limits>
#include <random>

#include "anesi/core/asked_output.h"
#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/known_variables.h"
#include "anesi/core/pruner.h"
#include "anesi/core/thread_pool.h"
#include "anesi/tensors/observations.h"
#include "anesi/tensors/problem.h"

namespace anesi {
namespace {

constexpr std::int64_t kTriedForEach = 8;  // worlds that are tried for each that is drawn
// How sure beliefs are, each by itself, from nearly certain to nearly even: concentrations of the Dirichlet, drawn
// evenly by logarithm.
constexpr double kSurest = 0.05, kLeastSure = 2;

// Chooses the variables that are still open, one after another, evenly among what is allowed. Returns the logarithm of
// how likely that was; -inf where a choice had nothing left, which a pruner that is not exact may lead to.
double draw_solution(const Pruner& pruner, const Space& space, Values output, MutableValues world, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto allowed = std::make_unique<bool[]>(as_size(space.largest_domain()));
  double log_prob = 0;
  for (std::int64_t variable = 0; variable < space.variables(); ++variable) {
    if (world[as_size(variable)] != kUnset) continue;
    const Mask mask(allowed.get(), as_size(space.domain(variable)));
    std::ranges::fill(mask, false);
    pruner.allow_worlds(output, world, variable, mask);
    std::vector<std::int64_t> choices;
    for (std::size_t value = 0; value < mask.size(); ++value) {
      if (mask[value]) choices.push_back(static_cast<std::int64_t>(value));
    }
    if (choices.empty()) return -std::numeric_limits<double>::infinity();
    world[as_size(variable)] = choices[random() % choices.size()];
    log_prob -= std::log(static_cast<double>(choices.size()));
  }
  return log_prob;
}

}  // namespace

Solutions::Solutions(std::shared_ptr<const Problem> problem)
    : problem_(std::move(problem)), pruner_(problem_->facts().share<Pruner>()) {
  const auto* const asked = problem_->facts().find<AskedOutput>();
  if (asked == nullptr || !pruner_) {
    throw UsageError("learning from solutions: the problem has no pruner, or no output that all labels are about");
  }
  output_ = asked->output;
}

torch::Tensor Solutions::draw_worlds(std::int64_t count, const at::Generator& generator) const {
  const auto& space = problem_->worlds();
  const auto tried = kTriedForEach * count;
  auto worlds = torch::full({tried, space.variables()}, kUnset, torch::kInt64);
  if (const auto* const known = problem_->facts().find<KnownVariables>()) {
    const auto told = draw_known(*known, tried, generator);
    for (std::size_t place = 0; place < known->variables.size(); ++place) {
      worlds.select(1, known->variables[place]).copy_(told.select(1, static_cast<std::int64_t>(place)));
    }
  }
  // A generator of its own for each row, so that draws do not depend on which thread comes first.
  const auto seeds = torch::randint(std::int64_t{1} << 62, {tried}, generator, torch::kInt64);
  auto log_probs = torch::empty({tried}, torch::kFloat64);
  parallel_for(tried, 16, [&](std::int64_t begin, std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      const MutableValues world(worlds.mutable_data_ptr<std::int64_t>() + row * space.variables(),
                                as_size(space.variables()));
      log_probs.mutable_data_ptr<double>()[row] = draw_solution(
          *pruner_, space, output_, world, static_cast<std::uint64_t>(seeds.const_data_ptr<std::int64_t>()[row]));
    }
  });
  // A draw that came to a dead end has no weight.
  const auto weights = torch::where(log_probs.isfinite(), -log_probs, -INFINITY).softmax(0).nan_to_num(0);
  if (weights.sum().item<double>() == 0) throw Error("learning from solutions: none was found under the pruner");
  return worlds.index_select(0, torch::multinomial(weights, count, /*replacement=*/true, generator));
}

Solutions::Drawn Solutions::draw(std::int64_t count, const at::Generator& generator) const {
  const auto& space = problem_->worlds();
  const auto worlds = draw_worlds(count, generator);
  const auto spread = torch::rand({count, space.variables(), 1}, generator, torch::kFloat64);
  const auto concentration = kSurest * (spread * std::log(kLeastSure / kSurest)).exp();
  const auto seen = torch::one_hot(worlds, space.largest_domain()).to(torch::kFloat64);
  auto shares = at::_standard_gamma(concentration + seen, generator);
  for (std::int64_t variable = 0; variable < space.variables(); ++variable) {
    shares.select(1, variable).slice(1, space.domain(variable)).zero_();
  }
  auto beliefs = (shares / shares.sum(2, /*keepdim=*/true)).to(torch::kFloat32);
  if (const auto* const known = problem_->facts().find<KnownVariables>()) {
    auto told = torch::full_like(worlds, kUnset);
    for (const auto variable : known->variables) told.select(1, variable).copy_(worlds.select(1, variable));
    beliefs = clamped(beliefs, told);
  }
  return {beliefs, worlds, torch::tensor(output_).expand({count, -1}).contiguous()};
}

}  // namespace anesi
