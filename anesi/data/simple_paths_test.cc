#include "anesi/data/simple_paths.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <set>

#include "anesi/core/error.h"
#include "anesi/data/path_data.h"
#include "anesi/io/files.h"
#include "anesi/logic/circuit_files.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

// Every simple path by walking them all: the bits of its ends, then of its edges.
std::set<std::vector<bool>> all_paths(const UndirectedGraph& graph) {
  std::set<std::vector<bool>> paths;
  std::vector<bool> seen(static_cast<std::size_t>(graph.vertices), false), on_path(graph.edges.size(), false);
  const auto walk = [&](const auto& self, int source, int at) -> void {
    if (at != source) {
      std::vector<bool> bits(static_cast<std::size_t>(graph.vertices), false);
      bits[static_cast<std::size_t>(source)] = bits[static_cast<std::size_t>(at)] = true;
      bits.insert(bits.end(), on_path.begin(), on_path.end());
      paths.insert(bits);
    }
    seen[static_cast<std::size_t>(at)] = true;
    for (std::size_t edge = 0; edge < graph.edges.size(); ++edge) {
      const auto [from, to] = graph.edges[edge];
      if (from != at && to != at) continue;
      const auto next = from == at ? to : from;
      if (seen[static_cast<std::size_t>(next)]) continue;
      on_path[edge] = true;
      self(self, source, next);
      on_path[edge] = false;
    }
    seen[static_cast<std::size_t>(at)] = false;
  };
  for (int source = 0; source < graph.vertices; ++source) walk(walk, source, source);
  return paths;
}

bool accepts(const Circuit& circuit, const std::vector<bool>& bits) {
  Circuit::OfLiterals<char> may_be_true(circuit.places(), 0);
  for (std::size_t place = 0; place < bits.size(); ++place) {
    const auto variable = static_cast<int>(place) + 1;
    may_be_true[circuit.place_of(bits[place] ? variable : -variable)] = 1;
  }
  return circuit.restrict_to_models(may_be_true);
}

TEST(SimplePaths, AreThoseThatAWalkFinds) {
  for (const auto& graph : {grid_graph(2, 2), grid_graph(3, 3), grid_graph(2, 5), grid_graph(4, 4),
                            UndirectedGraph{5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {0, 4}}}}) {
    const auto paths = all_paths(graph);
    const auto circuit = simple_path_circuit(graph);
    EXPECT_EQ(circuit.models(), static_cast<double>(paths.size()));
    EXPECT_TRUE(std::ranges::all_of(paths, [&](const auto& bits) { return accepts(circuit, bits); }));
  }
  EXPECT_EQ(simple_path_circuit(grid_graph(4, 4)).models(), 14248);
}

TEST(SimplePaths, OfALargerGridAreCountedToo) { EXPECT_EQ(simple_path_circuit(grid_graph(5, 5)).models(), 1530196); }

TEST(PathData, IsReadAsItWasPublished) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "paths.csv";
  const auto graph = grid_graph(4, 4);
  write_file_atomically(file, "21-12-6-19-23-11-13-3,13-1,17-16-15\n");
  const auto data = read_paths(file, graph);
  const auto inputs = data.inputs.values<float>();
  ASSERT_EQ(data.inputs.shape(), (std::vector<std::int64_t>{1, 24 + 16}));
  EXPECT_EQ(std::ranges::count(inputs.first(24), 1.0F), 16);
  EXPECT_EQ(std::ranges::count(inputs.subspan(24), 1.0F), 2);
  EXPECT_EQ(inputs[24 + 13] + inputs[24 + 1], 2);
  EXPECT_EQ(std::ranges::count(data.worlds.values(), 1), 2 + 3);
  for (const auto& [text, line] :
       {std::pair("1,2\n", "paths.csv:1"), std::pair("\n1-99,3-9,2\n", "paths.csv:2"),
        std::pair("1,0-3,0-1-2\n1,0-3,0\n", "paths.csv:2"), std::pair("1,5,2\n", "paths.csv:1")}) {
    write_file_atomically(file, text);
    EXPECT_TRUE(toys::names(toys::message_of([&] { read_paths(file, graph); }), {line})) << text;
  }
}

TEST(PathData, IsMadeOfTheSameKind) {
  const auto graph = grid_graph(4, 4);
  const auto data = make_paths(graph, 50, 1);
  const auto circuit = simple_path_circuit(graph);
  for (std::int64_t row = 0; row < 50; ++row) {
    const auto world = data.worlds[row];
    EXPECT_TRUE(accepts(circuit, std::vector<bool>(world.begin(), world.end())));
  }
  EXPECT_EQ(make_paths(graph, 50, 1).worlds, data.worlds);
}

}  // namespace
}  // namespace anesi
