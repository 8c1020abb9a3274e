#include "anesi/discover/orders.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "anesi/core/index.h"
#include "anesi/discover/worlds.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr double kMatters = 0.02;  // an influence below it is left out when variables are counted
constexpr std::int64_t kWorldsForInfluence = 400, kMostInteracting = 40, kWorldsForInteraction = 256;
constexpr std::int64_t kCallsOfALayer = 40000, kStatesLookedAt = 48, kFewestWorlds = 128, kMostWorlds = 1152;

// The output, of those that are open, that needs the fewest of these variables, and its most influential one; the first
// variable where no output needs any.
std::int64_t by_support(const torch::Tensor& influence, const std::vector<std::int64_t>& variables,
                        const std::vector<bool>& open) {
  const auto matters = influence.accessor<double, 2>();
  std::optional<std::tuple<std::int64_t, double>> fewest;
  auto chosen = variables[0];
  for (std::int64_t output = 0; output < influence.size(1); ++output) {
    if (!open[as_size(output)]) continue;
    std::int64_t needed = 0, strongest = variables[0];
    double sum = 0, most = 0;
    for (const auto variable : variables) {
      const double here = matters[variable][output];
      if (here <= kMatters) continue;
      ++needed;
      sum += here;
      if (here > most) std::tie(most, strongest) = std::tuple(here, variable);
    }
    if (needed == 0) continue;
    const std::tuple rank(needed, -sum);
    if (fewest && *fewest <= rank) continue;
    fewest = rank;
    chosen = strongest;
  }
  return chosen;
}

std::vector<std::int64_t> support_order(const torch::Tensor& influence) {
  std::vector<std::int64_t> left(as_size(influence.size(0))), order;
  std::iota(left.begin(), left.end(), 0);
  std::vector<bool> open(as_size(influence.size(1)), true);
  const auto matters = influence.accessor<double, 2>();
  while (!left.empty()) {
    order.push_back(by_support(influence, left, open));
    std::erase(left, order.back());
    // An output whose variables are all read is out.
    for (std::int64_t output = 0; output < influence.size(1); ++output) {
      open[as_size(output)] =
          std::ranges::any_of(left, [&](auto variable) { return matters[variable][output] > kMatters; });
    }
  }
  return order;
}

// Influence of the variables that are not read yet, from prefixes of the states reached: half its mean over states,
// half its largest value, so that what decides a few states counts.
std::int64_t adaptive(Oracle& oracle, const LayeredMachine& machine, const at::Generator& generator) {
  const auto unread = machine.unread();
  const auto open = machine.open_outputs();
  if (unread.size() == 1 || std::ranges::none_of(open, [](bool is) { return is; })) return unread[0];
  const auto& space = oracle.worlds();
  const auto prefixes = machine.some_prefixes(kStatesLookedAt, generator);
  const auto states = prefixes.size(0);
  const auto worlds = std::clamp(kCallsOfALayer / static_cast<std::int64_t>(unread.size()), kFewestWorlds, kMostWorlds);
  const auto each = std::max<std::int64_t>(2, worlds / states);
  auto base = prefixes.repeat_interleave(each, 0);
  const auto completions = uniform_worlds(space, base.size(0), generator);
  const auto columns = tensor_of(unread);
  base.index_copy_(1, columns, completions.index_select(1, columns));
  const auto before = oracle.ask(base);
  auto influence = torch::zeros({space.variables(), oracle.outputs().variables()}, torch::kFloat64);
  for (const auto variable : unread) {
    const auto changed = oracle.ask(with_another_value(base, variable, space, generator)) != before;
    const auto share = changed.view({states, each, -1}).to(torch::kFloat64).mean(1);
    influence[variable] = 0.5 * share.mean(0) + 0.5 * std::get<0>(share.max(0));
  }
  return by_support(influence, unread, open);
}

// Variables along the second eigenvector of the graph of those that act together: another value of both changes an
// output in a way that neither does alone.
std::vector<std::int64_t> interaction_order(Oracle& oracle, const at::Generator& generator) {
  const auto& space = oracle.worlds();
  const auto variables = space.variables();
  const auto worlds = mixed_worlds(space, kWorldsForInteraction, generator);
  const auto before = oracle.ask(worlds);
  std::vector<torch::Tensor> changed, one;
  for (std::int64_t variable = 0; variable < variables; ++variable) {
    changed.push_back(with_another_value(worlds, variable, space, generator));
    one.push_back(oracle.ask(changed.back()));
  }
  auto graph = torch::zeros({variables, variables}, torch::kFloat64);
  for (std::int64_t i = 0; i < variables; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      auto both_changed = changed[as_size(i)].clone();
      both_changed.select(1, j).copy_(changed[as_size(j)].select(1, j));
      const auto both = oracle.ask(both_changed);
      const auto by_i = one[as_size(i)] != before, by_j = one[as_size(j)] != before;
      const auto together =
          ((both != before) & ~by_i & ~by_j) | (by_i & by_j & (both != one[as_size(i)]) & (both != one[as_size(j)]));
      const auto weight =
          together.any(1).to(torch::kFloat64).mean() + 0.01 * (by_i & by_j).any(1).to(torch::kFloat64).mean();
      graph[i][j] = graph[j][i] = weight;
    }
  }
  const auto laplacian = torch::diag(graph.sum(1)) - graph + 1e-9 * torch::eye(variables, torch::kFloat64);
  return values_of(
      std::get<1>(torch::linalg_eigh(laplacian)).select(1, std::min<std::int64_t>(1, variables - 1)).argsort());
}

}  // namespace

torch::Tensor influence(Oracle& oracle, const at::Generator& generator) {
  const auto& space = oracle.worlds();
  const auto worlds = mixed_worlds(space, kWorldsForInfluence, generator);
  const auto before = oracle.ask(worlds);
  auto result = torch::zeros({space.variables(), oracle.outputs().variables()}, torch::kFloat64);
  for (std::int64_t variable = 0; variable < space.variables(); ++variable) {
    const auto changed = oracle.ask(with_another_value(worlds, variable, space, generator)) != before;
    result[variable] = changed.to(torch::kFloat64).mean(0);
  }
  return result;
}

ReadingOrder reading_by_influence(const Space& worlds, const Space& outputs, const torch::Tensor& influence) {
  const auto order = support_order(influence);
  const auto matters = influence.accessor<double, 2>();
  std::vector<bool> emitted(as_size(outputs.variables()), false);
  std::vector<ReadingStep> steps;
  for (std::size_t place = 0; place < order.size(); ++place) {
    ReadingStep step{.reads = {order[place]}, .emits = {}};
    for (std::int64_t output = 0; output < outputs.variables(); ++output) {
      const bool waits = std::any_of(order.begin() + static_cast<std::ptrdiff_t>(place) + 1, order.end(),
                                     [&](auto variable) { return matters[variable][output] > kMatters; });
      if (waits || emitted[as_size(output)]) continue;
      emitted[as_size(output)] = true;
      if (step.emits) {
        steps.push_back(std::move(step));
        step = {};
      }
      step.emits = output;
    }
    steps.push_back(std::move(step));
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> shapes;  // domains read and emitted, 0 where nothing
  for (auto& step : steps) {
    const std::pair shape(step.reads.empty() ? 0 : worlds.domain(step.reads[0]),
                          step.emits ? outputs.domain(*step.emits) : 0);
    const auto known = std::ranges::find(shapes, shape);
    step.kind = known - shapes.begin();
    if (known == shapes.end()) shapes.push_back(shape);
  }
  return {worlds, outputs, std::move(steps)};
}

LayeredMachine::Choose fixed_order(std::vector<std::int64_t> order) {
  return [order = std::move(order)](const LayeredMachine& machine) { return order[machine.reached()]; };
}

std::vector<OrderChoice> promising_orders(Oracle& oracle, const torch::Tensor& influence, std::uint64_t seed) {
  const auto variables = oracle.worlds().variables();
  std::vector<std::int64_t> given(as_size(variables));
  std::iota(given.begin(), given.end(), 0);
  std::vector<std::int64_t> reversed(given.rbegin(), given.rend());
  std::vector<OrderChoice> choices{{"support", fixed_order(support_order(influence))},
                                   {"given", fixed_order(given)},
                                   {"reversed", fixed_order(reversed)}};
  choices.push_back({"adaptive", [&oracle, generator = seeded(seed)](const LayeredMachine& machine) {
                       return adaptive(oracle, machine, generator);
                     }});
  if (variables <= kMostInteracting) {
    // Found when it is first needed, which may be never.
    auto found = std::make_shared<std::vector<std::int64_t>>();
    choices.push_back({"interaction", [&oracle, found, generator = seeded(seed + 1)](const LayeredMachine& machine) {
                         if (found->empty()) *found = interaction_order(oracle, generator);
                         return (*found)[machine.reached()];
                       }});
  }
  return choices;
}

}  // namespace anesi
