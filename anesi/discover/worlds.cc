#include "anesi/discover/worlds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/index.h"

namespace anesi {
namespace {

std::int64_t below(std::int64_t bound, Random& random) {
  return static_cast<std::int64_t>(random.below(as_size(bound)));
}

// Of each belief and variable: how likely a value is or one before it, up to a factor.
class CumulativeBeliefs {
 public:
  CumulativeBeliefs(LogBeliefRows logs, const Space& space)
      : space_(space), size_(logs.size), width_(logs.width), sums_(as_size(logs.size * logs.row_size())) {
    if (logs.size == 0 || logs.variables != space.variables() || logs.width < space.largest_domain()) {
      throw Error(
          fmt::format("worlds of beliefs: {} beliefs in {} variables of up to {} values; at least one is needed, "
                      "in {} variables of up to {}",
                      logs.size, logs.variables, logs.width, space.variables(), space.largest_domain()));
    }
    for (std::int64_t row = 0; row < size_; ++row) {
      for (std::int64_t variable = 0; variable < space.variables(); ++variable) add(logs, row, variable);
    }
  }

  void draw(MutableValues world, Random& random) const {
    const auto row = below(size_, random);
    for (std::int64_t variable = 0; variable < space_.variables(); ++variable) {
      const auto* const sums = sums_.data() + (row * space_.variables() + variable) * width_;
      const auto* const end = sums + space_.domain(variable);
      // A value of probability zero is never chosen: its sum is no larger than the one before it.
      const auto* place = std::upper_bound(sums, end, random.uniform() * *(end - 1));
      if (place == end) place = std::lower_bound(sums, end, *(end - 1));  // after rounding up
      world[as_size(variable)] = place - sums;
    }
  }

 private:
  void add(LogBeliefRows logs, std::int64_t row, std::int64_t variable) {
    const auto* const begin = &logs(row, variable, 0);
    const auto domain = space_.domain(variable);
    const double largest = *std::max_element(begin, begin + domain);
    auto* const sums = sums_.data() + (row * space_.variables() + variable) * width_;
    double sum = 0;
    for (std::int64_t value = 0; value < domain; ++value) sums[value] = sum += std::exp(begin[value] - largest);
    if (!(sum > 0) || std::isinf(sum)) {
      throw Error(
          fmt::format("worlds of beliefs: belief {} gives variable {} no value that is possible", row, variable));
    }
  }

  Space space_;
  std::int64_t size_, width_;
  std::vector<double> sums_;
};

}  // namespace

Points mixed_worlds(const Space& space, std::int64_t count, Random& random) {
  Points worlds(count, space.variables());
  const auto variables = as_size(space.variables());
  // Variables whose beliefs may be one: those of a domain.
  std::map<std::int64_t, std::vector<std::size_t>> groups;
  for (std::size_t variable = 0; variable < variables; ++variable)
    groups[space.domains()[variable]].push_back(variable);
  for (std::int64_t row = 0; row < count; ++row) {
    const auto world = worlds[row];
    if (random.uniform() < 0.5) {
      for (std::size_t variable = 0; variable < variables; ++variable)
        world[variable] = below(space.domains()[variable], random);
      continue;
    }
    // One value after another of a belief that was drawn from Dirichlet(a, …, a), with the belief summed out (Pólya's
    // urn): a value that n of m variables have is drawn next with probability (n + a) / (m + a * domain).
    const double concentration = std::pow(10.0, -1.5 + 2.2 * random.uniform());
    for (const auto& [domain, members] : groups) {
      const double fresh = concentration * static_cast<double>(domain);
      for (std::size_t seen = 0; seen < members.size(); ++seen) {
        const bool repeats = random.uniform() * (static_cast<double>(seen) + fresh) < static_cast<double>(seen);
        world[members[seen]] = repeats ? world[members[random.below(seen)]] : below(domain, random);
      }
    }
  }
  return worlds;
}

DrawWorlds mixed_worlds_of(const Space& space) {
  return [space](std::int64_t count, Random& random) { return mixed_worlds(space, count, random); };
}

DrawWorlds worlds_of_beliefs(LogBeliefRows logs, const Space& space) {
  const auto beliefs = std::make_shared<const CumulativeBeliefs>(logs, space);
  return [beliefs, variables = space.variables()](std::int64_t count, Random& random) {
    Points worlds(count, variables);
    for (std::int64_t row = 0; row < count; ++row) beliefs->draw(worlds[row], random);
    return worlds;
  };
}

Points with_another_value(PointRows worlds, std::int64_t variable, const Space& space, Random& random) {
  Points changed(worlds);
  const auto domain = space.domain(variable);
  if (domain == 1) return changed;
  for (std::int64_t row = 0; row < changed.size(); ++row) {
    auto& value = changed[row][as_size(variable)];
    value = (value + 1 + below(domain - 1, random)) % domain;
  }
  return changed;
}

}  // namespace anesi
