#include "anesi/data/simple_paths.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "anesi/logic/circuit_builder.h"

namespace anesi {
namespace {

// What is remembered between two steps.
struct Frontier {
  // Of each vertex at the frontier: itself where no edge of the path has met it yet; the other end of its piece of the
  // path where it is an end of that piece; kInside where the path goes through it. kFinished stands for an end of the
  // whole path that the frontier has passed.
  std::map<int, int> other_end;
  std::vector<int> ends;  // of the whole path, at the frontier
  int ends_seen = 0;
  bool complete = false;  // the path leads from end to end: nothing may follow

  bool operator<(const Frontier& other) const {
    return std::tie(other_end, ends, ends_seen, complete) <
           std::tie(other.other_end, other.ends, other.ends_seen, other.complete);
  }
};

constexpr int kInside = -1, kFinished = -2;

bool is_end(const Frontier& frontier, int vertex) {
  return std::ranges::find(frontier.ends, vertex) != frontier.ends.end();
}

using Next = std::optional<Frontier>;  // empty: no path comes of it

Next enter(Frontier frontier, int vertex, bool end) {
  frontier.other_end[vertex] = vertex;
  if (!end) return frontier;
  if (++frontier.ends_seen > 2) return std::nullopt;
  frontier.ends.push_back(vertex);
  return frontier;
}

Next take_edge(Frontier frontier, int from, int to) {
  if (frontier.complete) return std::nullopt;
  const auto one = frontier.other_end.at(from), other = frontier.other_end.at(to);
  if (one == kInside || other == kInside || one == to) return std::nullopt;  // a fork, or a circle
  for (const auto vertex : {from, to}) {
    if (is_end(frontier, vertex) && frontier.other_end.at(vertex) != vertex) return std::nullopt;  // on past an end
  }
  for (const auto& [vertex, its_end] : {std::pair(from, one), std::pair(to, other)}) {
    if (its_end != vertex) frontier.other_end[vertex] = kInside;
  }
  if (one >= 0) frontier.other_end[one] = other;
  if (other >= 0) frontier.other_end[other] = one;
  if (one == kFinished && other == kFinished) frontier.complete = true;
  return frontier;
}

// The vertex has no edge left to decide.
Next leave(Frontier frontier, int vertex) {
  const auto other = frontier.other_end.at(vertex);
  frontier.other_end.erase(vertex);
  if (!is_end(frontier, vertex)) {
    if (other != vertex && other != kInside) return std::nullopt;  // a piece of the path ends in the middle of nowhere
    return frontier;
  }
  if (other == vertex) return std::nullopt;  // an end that no edge meets
  std::erase(frontier.ends, vertex);
  if (other == kFinished) {
    frontier.complete = true;
  } else {
    frontier.other_end[other] = kFinished;
  }
  return frontier;
}

// Once the path is complete no other piece may be about, nor may one begin.
bool hopeless(const Frontier& frontier) {
  return frontier.complete && (!frontier.ends.empty() || std::ranges::any_of(frontier.other_end, [](const auto& entry) {
           return entry.second != entry.first && entry.second != kInside;
         }));
}

// One variable to decide, and the vertices that have been passed after that.
struct Step {
  int variable;
  int vertex = -1;         // enters the frontier; -1: the step is of an edge
  int from = -1, to = -1;  // of an edge
  std::vector<int> passed = {};
};

std::vector<Step> steps_of(const UndirectedGraph& graph) {
  std::vector<Step> steps;
  std::vector<bool> entered(static_cast<std::size_t>(graph.vertices), false);
  std::vector<std::size_t> last(static_cast<std::size_t>(graph.vertices));  // step of each vertex
  const auto enters = [&](int vertex) {
    if (entered[static_cast<std::size_t>(vertex)]) return;
    entered[static_cast<std::size_t>(vertex)] = true;
    last[static_cast<std::size_t>(vertex)] = steps.size();
    steps.push_back({.variable = 1 + vertex, .vertex = vertex});
  };
  for (const auto edge : frontier_order(graph)) {
    const auto [from, to] = graph.edges[static_cast<std::size_t>(edge)];
    enters(from);
    enters(to);
    last[static_cast<std::size_t>(from)] = last[static_cast<std::size_t>(to)] = steps.size();
    steps.push_back({.variable = 1 + graph.vertices + edge, .from = from, .to = to});
  }
  for (int vertex = 0; vertex < graph.vertices; ++vertex) enters(vertex);
  for (int vertex = 0; vertex < graph.vertices; ++vertex) {
    steps[last[static_cast<std::size_t>(vertex)]].passed.push_back(vertex);
  }
  return steps;
}

Next decide(const Frontier& frontier, const Step& step, bool yes) {
  Next next = step.vertex >= 0 ? enter(frontier, step.vertex, yes)
              : yes            ? take_edge(frontier, step.from, step.to)
                               : frontier;
  for (const auto vertex : step.passed) {
    if (next) next = leave(*next, vertex);
  }
  return next && !hopeless(*next) ? next : std::nullopt;
}

}  // namespace

UndirectedGraph grid_graph(int rows, int columns) {
  UndirectedGraph graph{.vertices = rows * columns};
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column + 1 < columns; ++column) {
      graph.edges.emplace_back(row * columns + column, row * columns + column + 1);
    }
  }
  for (int column = 0; column < columns; ++column) {
    for (int row = 0; row + 1 < rows; ++row) {
      graph.edges.emplace_back(row * columns + column, (row + 1) * columns + column);
    }
  }
  return graph;
}

std::vector<int> frontier_order(const UndirectedGraph& graph) {
  std::vector<int> order(graph.edges.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int edge) {
    const auto [from, to] = graph.edges[static_cast<std::size_t>(edge)];
    return std::pair(std::max(from, to), std::min(from, to));
  });
  return order;
}

Circuit simple_path_circuit(const UndirectedGraph& graph) {
  const auto steps = steps_of(graph);
  // Forward: which frontiers there can be before each step, and where each decision leads.
  constexpr int kNowhere = -1;
  std::vector<std::vector<std::pair<int, int>>> leads(steps.size());  // [step][frontier] -> without, with
  std::map<Frontier, int> frontiers{{Frontier{}, 0}};
  for (std::size_t index = 0; index < steps.size(); ++index) {
    std::map<Frontier, int> following;
    leads[index].resize(frontiers.size());
    for (const auto& [frontier, place] : frontiers) {
      const auto lead = [&, &before = frontier](bool yes) {
        const auto next = decide(before, steps[index], yes);
        return next ? following.try_emplace(*next, static_cast<int>(following.size())).first->second : kNowhere;
      };
      const auto without = lead(false);
      leads[index][static_cast<std::size_t>(place)] = {without, lead(true)};
    }
    frontiers = std::move(following);
  }
  // Backward: what satisfies the rest.
  CircuitBuilder builder(graph.vertices + static_cast<int>(graph.edges.size()));
  std::vector<CircuitBuilder::Part> rest(frontiers.size());
  for (const auto& [frontier, place] : frontiers) {
    rest[static_cast<std::size_t>(place)] = frontier.complete ? CircuitBuilder::kTrue : CircuitBuilder::kFalse;
  }
  for (auto index = steps.size(); index-- > 0;) {
    const auto variable = steps[index].variable;
    std::vector<CircuitBuilder::Part> before(leads[index].size());
    for (std::size_t place = 0; place < before.size(); ++place) {
      const auto branch = [&](int literal, int next) {
        if (next == kNowhere) return CircuitBuilder::kFalse;
        return builder.product({builder.literal(literal), rest[static_cast<std::size_t>(next)]});
      };
      const auto without = branch(-variable, leads[index][place].first);
      before[place] = builder.sum({without, branch(variable, leads[index][place].second)});
    }
    rest = std::move(before);
  }
  return builder.build(rest.front());
}

}  // namespace anesi
