#include "anesi/search/pair_propagation.h"

#include <fmt/format.h>

#include <numeric>

#include "anesi/core/error.h"

namespace anesi {

PairGraph::PairGraph(Space worlds, std::vector<VariablePair> pairs)
    : worlds_(std::move(worlds)),
      pairs_(std::move(pairs)),
      begin_(static_cast<std::size_t>(worlds_.variables()) + 1, 0) {
  const auto exists = [&](std::int64_t variable) { return variable >= 0 && variable < worlds_.variables(); };
  for (std::size_t index = 0; index < pairs_.size(); ++index) {
    const auto [first, second] = pairs_[index];
    if (!exists(first) || !exists(second) || first == second) {
      throw Error(fmt::format("pairs: pair {} is of variables {} and {}; it takes two of the {} there are", index,
                              first, second, worlds_.variables()));
    }
    ++begin_[static_cast<std::size_t>(first) + 1];
    ++begin_[static_cast<std::size_t>(second) + 1];
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
}

PairPropagation::PairPropagation(std::shared_ptr<const PairGraph> graph, Values output)
    : graph_(std::move(graph)), domains_(graph_->worlds()), neighbours_(graph_->pairs().size() * 2) {
  if (output.size() != graph_->pairs().size()) {
    throw Error(fmt::format("pairs: an output of {} values for {} pairs", output.size(), graph_->pairs().size()));
  }
  const auto variables = graph_->worlds().variables();
  for (std::int64_t variable = 0; variable < variables; ++variable) {
    different_end_.push_back(graph_->begin(variable));
    equal_begin_.push_back(graph_->begin(variable + 1));
  }
  bool possible = read(output) && !contradicts_itself(output);
  // Nothing is decided yet, but domains may be of different sizes, or of one value.
  for (std::int64_t variable = 0; variable < variables && possible; ++variable) possible = conclude_from(variable);
  if (!possible || !conclude()) domains_.keep(0, 0);
}

// Sorts neighbours by what the output says of them. False where it says something else.
bool PairPropagation::read(Values output) {
  const auto& pairs = graph_->pairs();
  for (std::size_t index = 0; index < pairs.size(); ++index) {
    const auto said = output[index];
    if (said == kUnset) continue;
    if (said != 0 && said != 1) return false;
    const auto first = static_cast<std::size_t>(pairs[index][0]);
    const auto second = static_cast<std::size_t>(pairs[index][1]);
    const auto place = [&](std::size_t variable) {
      return static_cast<std::size_t>(said == 1 ? different_end_[variable]++ : --equal_begin_[variable]);
    };
    neighbours_[place(first)] = static_cast<std::int32_t>(second);
    neighbours_[place(second)] = static_cast<std::int32_t>(first);
  }
  return true;
}

// Whether two variables that equalities join are said to differ.
bool PairPropagation::contradicts_itself(Values output) const {
  const auto& pairs = graph_->pairs();
  if (std::ranges::find(output, 0) == output.end()) return false;
  std::vector<std::int64_t> joined(equal_begin_.size());  // each leads towards the one that stands for its class
  std::iota(joined.begin(), joined.end(), 0);
  const auto representative = [&](std::int64_t variable) {
    const auto next = [&]() -> std::int64_t& { return joined[static_cast<std::size_t>(variable)]; };
    while (next() != variable) variable = next() = joined[static_cast<std::size_t>(next())];
    return variable;
  };
  for (std::size_t index = 0; index < pairs.size(); ++index) {
    if (output[index] != 0) continue;
    joined[static_cast<std::size_t>(representative(pairs[index][0]))] = representative(pairs[index][1]);
  }
  for (std::size_t index = 0; index < pairs.size(); ++index) {
    if (output[index] == 1 && representative(pairs[index][0]) == representative(pairs[index][1])) return true;
  }
  return false;
}

bool PairPropagation::decide(std::int64_t variable, std::int64_t value) {
  domains_.begin_decision();
  return keep(variable, std::uint64_t{1} << value) && conclude();
}

// What follows for a variable's neighbours. False where one has no value left.
bool PairPropagation::conclude_from(std::int64_t variable) {
  const auto at = static_cast<std::size_t>(variable);
  const auto domain = domains_[variable];
  if (domains_.is_decided(variable)) {
    for (auto place = graph_->begin(variable); place < different_end_[at]; ++place) {
      if (!keep(neighbours_[static_cast<std::size_t>(place)], ~domain)) return false;
    }
  }
  for (auto place = equal_begin_[at]; place < graph_->begin(variable + 1); ++place) {
    if (!keep(neighbours_[static_cast<std::size_t>(place)], domain)) return false;
  }
  return true;
}

// The changes since the decision are the queue: each is looked at once, and adds those that follow from it.
bool PairPropagation::conclude() {
  for (std::size_t change = 0; change < domains_.changed().size(); ++change) {
    if (!conclude_from(domains_.changed()[change])) return false;
  }
  return true;
}

}  // namespace anesi
