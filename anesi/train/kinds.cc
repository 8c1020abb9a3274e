#include "anesi/train/kinds.h"

#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/score.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/train/cluster.h"

namespace anesi {
namespace {

constexpr std::int64_t kVariablesAtATime = 20000, kVariablesClustered = 4000;
constexpr std::int64_t kRounds = 10;
constexpr double kRegretWeight = 1e-4;  // breaks ties between equally many unexplained examples
constexpr double kSureness = 0.999;

// Sorts variables by what perception sees of them.
class Sorter {
 public:
  // From examples of [batch, variables, …] inputs. Throws UsageError where perception has no features.
  Sorter(Perception& perception, const torch::Tensor& inputs, std::int64_t count, const at::Generator& generator)
      : perception_(perception) {
    const auto points = features(inputs);
    const auto some = points.index_select(
        0, torch::randperm(points.size(0), generator, torch::kInt64).slice(0, 0, kVariablesClustered));
    middle_ = some.mean(0);
    spread_ = some.std(0) + 1e-3;
    centres_ = cluster((some - middle_) / spread_, count, generator);
  }

  // int64 [batch, variables]
  torch::Tensor kinds(const torch::Tensor& inputs) const {
    const auto points = (features(inputs) - middle_) / spread_;
    return nearest(points, centres_).view({inputs.size(0), -1});
  }

 private:
  torch::Tensor features(const torch::Tensor& inputs) const {
    const auto seen = perception_.features(inputs);
    if (!seen.defined()) throw UsageError("refine.labels=kinds: this perception does not tell what it sees");
    return seen.reshape({seen.size(0) * seen.size(1), -1});
  }

  Perception& perception_;
  torch::Tensor middle_, spread_, centres_;
};

torch::Tensor worlds_of(const torch::Tensor& kinds, const torch::Tensor& values) {
  return values.index_select(0, kinds.view(-1)).view(kinds.sizes());
}

// Those worlds, but for what labels tell of them.
torch::Tensor worlds_of(const torch::Tensor& kinds, const torch::Tensor& values, const Observations& seen) {
  const auto worlds = worlds_of(kinds, values);
  return seen.worlds.defined() ? torch::where(seen.worlds != kUnset, seen.worlds, worlds) : worlds;
}

// What the values of the kinds, int64 [kinds], cost.
using Cost = std::function<double(const torch::Tensor& values)>;

// Coordinate descent on the values of the kinds. Where it ends depends on which kind is looked at first, so it is done
// several times over.
class Descent {
 public:
  using Assignment = std::vector<std::int64_t>;  // a value for each kind

  Descent(Cost cost, std::int64_t domain) : cost_of_(std::move(cost)), domain_(domain) {}

  double cost(const Assignment& values) {
    const auto [place, is_new] = known_.try_emplace(values, 0);
    if (is_new) place->second = cost_of_(torch::tensor(values, torch::kInt64));
    return place->second;
  }

  // Changes values, looking at kinds in that order, until no change of one kind, of two kinds that share a value, or of
  // all that share one is for the better.
  Assignment improve(Assignment values, const std::vector<std::int64_t>& order) {
    for (std::int64_t round = 0; round < kRounds; ++round) {
      bool changed = false;
      for (const auto kind : order) changed |= change(values, {kind});
      if (changed) continue;
      for (std::int64_t value = 0; value < domain_; ++value) {
        std::vector<std::int64_t> all;
        for (const auto kind : order) {
          if (values[static_cast<std::size_t>(kind)] == value) all.push_back(kind);
        }
        if (all.size() > 1) changed |= change(values, all);
      }
      for (const auto one : order) {
        for (const auto other : order) {
          if (one < other && values[static_cast<std::size_t>(one)] == values[static_cast<std::size_t>(other)]) {
            changed |= change(values, {one, other});
          }
        }
      }
      if (!changed) break;
    }
    return values;
  }

 private:
  // Gives the kinds, which share a value, the one that is best for them.
  bool change(Assignment& values, const std::vector<std::int64_t>& kinds) {
    const auto before = values[static_cast<std::size_t>(kinds[0])];
    auto best = values;
    for (std::int64_t value = 0; value < domain_; ++value) {
      if (value == before) continue;
      auto changed = values;
      for (const auto kind : kinds) changed[static_cast<std::size_t>(kind)] = value;
      if (cost(changed) < cost(best) - 1e-9) best = changed;
    }
    const bool is_better = best != values;
    values = best;
    return is_better;
  }

  Cost cost_of_;
  std::int64_t domain_;
  std::map<Assignment, double> known_;
};

Cost judged_by_problem(const Problem& problem, torch::Tensor kinds, Observations seen) {
  return [&problem, kinds = std::move(kinds), seen = std::move(seen)](const torch::Tensor& values) {
    const auto regrets = regret(problem, worlds_of(kinds, values, seen), seen.outputs).to(torch::kFloat64);
    return (regrets > 0).to(torch::kFloat64).mean().item<double>() + kRegretWeight * regrets.mean().item<double>();
  };
}

// Nats an example. Beliefs are nearly certain: perception never is altogether, and q has hardly seen that it is.
Cost judged_by_q(const Learner& learner, torch::Tensor kinds, Batch shown) {
  return [&learner, kinds = std::move(kinds), shown = std::move(shown)](const torch::Tensor& values) {
    const auto& worlds = learner.problem->worlds();
    double cost = 0;
    const auto examples = kinds.size(0), step = std::max<std::int64_t>(1, kVariablesAtATime / kinds.size(1));
    for (std::int64_t begin = 0; begin < examples; begin += step) {
      const auto rows = torch::arange(begin, std::min(begin + step, examples), torch::kInt64);
      const auto seen = shown.observations.rows(rows);
      Batch some{.inputs = {}, .observations = seen, .worlds = {}};
      if (shown.known.defined()) some.known = shown.known.index_select(0, rows);
      const auto certain =
          torch::one_hot(worlds_of(kinds.index_select(0, rows), values, seen), worlds.largest_domain());
      const auto beliefs = certain * kSureness + (1 - kSureness) / static_cast<double>(worlds.largest_domain());
      cost -= learner.model.prediction->log_prob(learner.complete(beliefs, some), seen.outputs).sum().item<double>();
    }
    return cost / static_cast<double>(examples);
  };
}

}  // namespace

WorldsByKind explain_by_kinds(const Learner& learner, const KindsOptions& options, const at::Generator& generator) {
  const torch::NoGradGuard no_gradients;
  const auto& problem = *learner.problem;
  const auto& data = *learner.training;
  auto& perception = *learner.perception;
  perception.eval();
  const bool asks_q = options.judge == KindsJudge::kQ;
  if (!problem.worlds().all_domains_equal()) throw UsageError("refine.labels=kinds: variables have different domains");
  if (asks_q && (!learner.model.prediction || !learner.through_q)) {
    throw UsageError("kinds.judge=q: there is no q; use kinds.judge=problem");
  }
  if (!data.labels().outputs.defined()) throw UsageError("refine.labels=kinds: labels tell no outputs");
  const auto all = data.labels().rows_that_hold();
  const auto shuffled = all.index_select(0, torch::randperm(all.size(0), generator, torch::kInt64));
  const auto rows = shuffled.slice(0, 0, options.examples);
  const auto seen = data.labels().rows(rows);
  const auto variables = problem.worlds().variables(), examples = rows.size(0);

  const auto step = std::max<std::int64_t>(1, kVariablesAtATime / variables);
  const Sorter sorter(perception, data.inputs(rows.slice(0, 0, step)), options.count, generator);
  std::vector<torch::Tensor> kinds_of_parts, beliefs_of_parts;
  for (const auto& some : rows.split(step)) {
    const auto inputs = data.inputs(some);
    kinds_of_parts.push_back(sorter.kinds(inputs));
    beliefs_of_parts.push_back(perception.forward(inputs));
  }
  const auto kinds = torch::cat(kinds_of_parts), beliefs = torch::cat(beliefs_of_parts);
  const auto believed = torch::zeros({options.count, beliefs.size(2)})
                            .index_add(0, kinds.view(-1), beliefs.reshape({examples * variables, -1}))
                            .argmax(1);

  Cost cost;
  if (asks_q) {
    const auto shown = learner.shown(shuffled.slice(0, 0, options.asked), generator);
    cost = judged_by_q(learner, sorter.kinds(shown.inputs), shown);
  } else {
    cost = judged_by_problem(problem, kinds, seen);
  }
  Descent descent(std::move(cost), problem.worlds().largest_domain());
  const auto start = values_of(believed);
  auto best = start;
  for (std::int64_t times = 0; times < options.orders; ++times) {
    // First the kinds that there are most of, then as it comes.
    const auto order = times == 0 ? torch::bincount(kinds.view(-1), {}, options.count).argsort(0, /*descending=*/true)
                                  : torch::randperm(options.count, generator, torch::kInt64);
    const auto found = descent.improve(start, values_of(order));
    if (descent.cost(found) < descent.cost(best)) best = found;
  }
  const auto worlds = worlds_of(kinds, torch::tensor(best, torch::kInt64), seen);
  const auto gap = world_log_prob(beliefs, most_likely_worlds(beliefs)) -
                   world_log_prob(beliefs.clamp_min(std::numeric_limits<float>::min()), worlds);
  return {rows, worlds, gap.mean().item<double>(), descent.cost(start), descent.cost(best)};
}

}  // namespace anesi
