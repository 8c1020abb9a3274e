#include "anesi/logic/graph_loops.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "anesi/core/index.h"

namespace anesi {
namespace {

class Splitting {
 public:
  explicit Splitting(const FactorGraph& graph)
      : graph_(graph),
        worlds_(as_size(graph.worlds.variables())),
        known_(worlds_ + as_size(graph.own_variables), false) {}

  SplittingOrder find() {
    std::vector<std::int64_t> order;
    auto weights = weights_in(std::vector<bool>(graph_.clauses.size(), true));
    const auto at_first = weights;
    while (order.size() < std::min(kMostSplit, worlds_)) {
      weights = weights_in(clauses_in_loops());
      const auto most = std::ranges::max_element(weights);
      if (*most == 0) break;
      order.push_back(most - weights.begin());
      known_[as_size(order.back())] = true;
    }
    const auto split = static_cast<std::ptrdiff_t>(order.size());
    for (std::size_t variable = 0; variable < worlds_; ++variable) {
      if (!known_[variable]) order.push_back(static_cast<std::int64_t>(variable));
    }
    std::ranges::stable_sort(order.begin() + split, order.end(), std::ranges::greater(),
                             [&](std::int64_t variable) { return at_first[as_size(variable)]; });
    return {std::move(order), split};
  }

 private:
  static constexpr std::size_t kMostSplit = 16;  // more would be too many cases

  std::int64_t open_in(std::size_t clause) const {
    return std::ranges::count_if(graph_.clauses[clause],
                                 [&](const auto& edge) { return !known_[as_size(edge.variable)]; });
  }

  // Leaves are taken away until none is left.
  std::vector<bool> clauses_in_loops() const {
    std::vector<bool> stays(graph_.clauses.size(), true), gone = known_;
    bool changed = true;
    while (changed) {
      changed = false;
      std::vector<int> degrees(gone.size(), 0);
      for (std::size_t place = 0; place < graph_.clauses.size(); ++place) {
        if (!stays[place]) continue;
        for (const auto& edge : graph_.clauses[place]) ++degrees[as_size(edge.variable)];
      }
      for (std::size_t variable = 0; variable < gone.size(); ++variable) {
        if (gone[variable] || degrees[variable] > 1) continue;
        gone[variable] = changed = true;
      }
      for (std::size_t place = 0; place < graph_.clauses.size(); ++place) {
        const auto left = std::ranges::count_if(graph_.clauses[place],
                                                [&](const auto& edge) { return !gone[as_size(edge.variable)]; });
        if (!stays[place] || left > 1) continue;
        stays[place] = false;
        changed = true;
      }
    }
    return stays;
  }

  // By how much each world variable decides of these clauses. One that leaves a single variable open closes no loop, so
  // that nothing is won by knowing that variable.
  std::vector<double> weights_in(const std::vector<bool>& clauses) const {
    std::vector<double> weights(worlds_, 0);
    for (std::size_t place = 0; place < clauses.size(); ++place) {
      const auto open = open_in(place);
      if (!clauses[place] || open < 2) continue;
      for (const auto& edge : graph_.clauses[place]) {
        const auto variable = as_size(edge.variable);
        if (variable < worlds_ && !known_[variable]) weights[variable] += std::exp2(-static_cast<double>(open));
      }
    }
    return weights;
  }

  const FactorGraph& graph_;
  std::size_t worlds_;
  std::vector<bool> known_;
};

}  // namespace

std::vector<bool> clauses_in_loops(const FactorGraph& graph, const std::vector<bool>& known) {
  const auto variables = as_size(graph.worlds.variables() + graph.own_variables);
  std::vector<std::size_t> towards(variables + graph.clauses.size());  // another node of the same component, or itself
  std::iota(towards.begin(), towards.end(), std::size_t{0});
  std::vector<bool> has_loop(towards.size(), false);  // of a component, at the node that all others lead to
  const auto component_of = [&](std::size_t node) {
    while (towards[node] != node) node = towards[node] = towards[towards[node]];
    return node;
  };
  for (std::size_t place = 0; place < graph.clauses.size(); ++place) {
    for (const auto& edge : graph.clauses[place]) {
      if (!known.empty() && known[as_size(edge.variable)]) continue;
      const auto clause = component_of(variables + place), variable = component_of(as_size(edge.variable));
      has_loop[clause] = has_loop[clause] || has_loop[variable] || clause == variable;
      towards[variable] = clause;
    }
  }
  std::vector<bool> loops(graph.clauses.size());
  for (std::size_t place = 0; place < loops.size(); ++place) loops[place] = has_loop[component_of(variables + place)];
  return loops;
}

SplittingOrder splitting_order(const FactorGraph& graph) { return Splitting(graph).find(); }

}  // namespace anesi
