#include "anesi/discover/orders.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "anesi/core/index.h"
#include "anesi/discover/spectral_order.h"
#include "anesi/discover/worlds.h"

namespace anesi {
namespace {

constexpr double kMatters = 0.02;  // an influence below it is left out when variables are counted
constexpr std::int64_t kWorldsForInfluence = 400, kMostInteracting = 40, kWorldsForInteraction = 256;
constexpr std::int64_t kCallsOfALayer = 40000, kStatesLookedAt = 48, kFewestWorlds = 128, kMostWorlds = 1152;

// The output, of those that are open, that needs the fewest of these variables, and its most influential one; the first
// variable where no output needs any.
std::int64_t by_support(const Matrix<double>& influence, const std::vector<std::int64_t>& variables,
                        const std::vector<bool>& open) {
  std::optional<std::tuple<std::int64_t, double>> fewest;
  auto chosen = variables[0];
  for (std::int64_t output = 0; output < influence.width(); ++output) {
    if (!open[as_size(output)]) continue;
    std::int64_t needed = 0, strongest = variables[0];
    double sum = 0, most = 0;
    for (const auto variable : variables) {
      const double here = influence[variable][as_size(output)];
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

std::vector<std::int64_t> support_order(const Matrix<double>& influence) {
  std::vector<std::int64_t> left(as_size(influence.size())), order;
  std::iota(left.begin(), left.end(), 0);
  std::vector<bool> open(as_size(influence.width()), true);
  while (!left.empty()) {
    order.push_back(by_support(influence, left, open));
    std::erase(left, order.back());
    // An output whose variables are all read is out.
    for (std::int64_t output = 0; output < influence.width(); ++output) {
      open[as_size(output)] =
          std::ranges::any_of(left, [&](auto variable) { return influence[variable][as_size(output)] > kMatters; });
    }
  }
  return order;
}

// Of each output, how many of so many rows have another value of it.
std::vector<double> changes(PointRows one, PointRows other) {
  std::vector<double> counts(as_size(one.width()), 0);
  for (std::int64_t row = 0; row < one.size(); ++row) {
    for (std::size_t output = 0; output < counts.size(); ++output)
      counts[output] += one[row][output] != other[row][output];
  }
  return counts;
}

// Influence of the variables that are not read yet, from prefixes of the states reached: half its mean over states,
// half its largest value, so that what decides a few states counts.
std::int64_t adaptive(Oracle& oracle, const LayeredMachine& machine, Random& random) {
  const auto unread = machine.unread();
  const auto open = machine.open_outputs();
  if (unread.size() == 1 || std::ranges::none_of(open, [](bool is) { return is; })) return unread[0];
  const auto& space = oracle.worlds();
  const auto prefixes = machine.some_prefixes(kStatesLookedAt, random);
  const auto states = prefixes.size();
  const auto worlds = std::clamp(kCallsOfALayer / std::ssize(unread), kFewestWorlds, kMostWorlds);
  const auto each = std::max<std::int64_t>(2, worlds / states);
  const auto completions = random_points(space, states * each, random);
  Points base(completions.size(), completions.width());
  for (std::int64_t row = 0; row < base.size(); ++row) {
    std::ranges::copy(prefixes[row / each], base[row].begin());
    for (const auto variable : unread) base[row][as_size(variable)] = completions[row][as_size(variable)];
  }
  const auto before = oracle.ask(base);
  Matrix<double> influence(space.variables(), oracle.outputs().variables());
  for (const auto variable : unread) {
    const auto after = oracle.ask(with_another_value(base, variable, space, random));
    std::vector<double> sums(as_size(influence.width()), 0), most(sums.size(), 0);
    for (std::int64_t state = 0; state < states; ++state) {
      const auto begin = state * each, end = begin + each;
      const auto counts = changes(before.rows().slice(begin, end), after.rows().slice(begin, end));
      for (std::size_t output = 0; output < counts.size(); ++output) {
        const double share = counts[output] / static_cast<double>(each);
        sums[output] += share;
        most[output] = std::max(most[output], share);
      }
    }
    for (std::size_t output = 0; output < sums.size(); ++output) {
      influence[variable][output] = 0.5 * sums[output] / static_cast<double>(states) + 0.5 * most[output];
    }
  }
  return by_support(influence, unread, open);
}

// How strongly two variables act together: the share of worlds in which changing both changes an output in a way that
// neither does alone and, a hundredth of it, that in which each changes it.
double interaction(PointRows before, PointRows one, PointRows other, PointRows both) {
  double together = 0, overlap = 0;
  for (std::int64_t row = 0; row < before.size(); ++row) {
    bool acts = false, overlaps = false;
    for (std::size_t output = 0; output < as_size(before.width()); ++output) {
      const auto was = before[row][output], by_one = one[row][output], by_other = other[row][output],
                 by_both = both[row][output];
      if (by_one != was && by_other != was) {
        overlaps = true;
        acts = acts || (by_both != by_one && by_both != by_other);
      } else if (by_one == was && by_other == was) {
        acts = acts || by_both != was;
      }
    }
    together += acts;
    overlap += overlaps;
  }
  return (together + 0.01 * overlap) / static_cast<double>(before.size());
}

std::vector<std::int64_t> interaction_order(Oracle& oracle, Random& random) {
  const auto& space = oracle.worlds();
  const auto variables = space.variables();
  const auto worlds = mixed_worlds(space, kWorldsForInteraction, random);
  const auto before = oracle.ask(worlds);
  std::vector<Points> changed, one;
  for (std::int64_t variable = 0; variable < variables; ++variable) {
    changed.push_back(with_another_value(worlds, variable, space, random));
    one.push_back(oracle.ask(changed.back()));
  }
  Matrix<double> graph(variables, variables);
  for (std::int64_t i = 0; i < variables; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      auto both_changed = changed[as_size(i)];
      for (std::int64_t row = 0; row < worlds.size(); ++row) {
        both_changed[row][as_size(j)] = changed[as_size(j)][row][as_size(j)];
      }
      const auto weight = interaction(before, one[as_size(i)], one[as_size(j)], oracle.ask(both_changed));
      graph[i][as_size(j)] = graph[j][as_size(i)] = weight;
    }
  }
  return spectral_order(graph);
}

}  // namespace

Matrix<double> influence(Oracle& oracle, Random& random) {
  const auto& space = oracle.worlds();
  const auto worlds = mixed_worlds(space, kWorldsForInfluence, random);
  const auto before = oracle.ask(worlds);
  Matrix<double> result(space.variables(), oracle.outputs().variables());
  for (std::int64_t variable = 0; variable < space.variables(); ++variable) {
    const auto counts = changes(before, oracle.ask(with_another_value(worlds, variable, space, random)));
    std::ranges::transform(counts, result[variable].begin(),
                           [](double count) { return count / static_cast<double>(kWorldsForInfluence); });
  }
  return result;
}

ReadingOrder reading_by_influence(const Space& worlds, const Space& outputs, const Matrix<double>& influence) {
  const auto order = support_order(influence);
  std::vector<bool> emitted(as_size(outputs.variables()), false);
  std::vector<ReadingStep> steps;
  for (std::size_t place = 0; place < order.size(); ++place) {
    ReadingStep step{.reads = {order[place]}, .emits = {}};
    for (std::int64_t output = 0; output < outputs.variables(); ++output) {
      const bool waits = std::any_of(order.begin() + static_cast<std::ptrdiff_t>(place) + 1, order.end(),
                                     [&](auto variable) { return influence[variable][as_size(output)] > kMatters; });
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

std::vector<OrderChoice> promising_orders(Oracle& oracle, const Matrix<double>& influence, std::uint64_t seed) {
  const auto variables = oracle.worlds().variables();
  std::vector<std::int64_t> given(as_size(variables));
  std::iota(given.begin(), given.end(), 0);
  std::vector<std::int64_t> reversed(given.rbegin(), given.rend());
  std::vector<OrderChoice> choices{{"support", fixed_order(support_order(influence))},
                                   {"given", fixed_order(given)},
                                   {"reversed", fixed_order(reversed)}};
  choices.push_back({"adaptive", [&oracle, random = Random(seed)](const LayeredMachine& machine) mutable {
                       return adaptive(oracle, machine, random);
                     }});
  if (variables <= kMostInteracting) {
    // Found when it is first needed, which may be never.
    auto found = std::make_shared<std::vector<std::int64_t>>();
    choices.push_back(
        {"interaction", [&oracle, found, random = Random(seed + 1)](const LayeredMachine& machine) mutable {
           if (found->empty()) *found = interaction_order(oracle, random);
           return (*found)[machine.reached()];
         }});
  }
  return choices;
}

}  // namespace anesi
