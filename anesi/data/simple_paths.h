// Which edges of a graph form one simple path between two of its vertices?
//
// Counted by the frontier method (Knuth's Simpath): edges are decided one after another, and all that has to be
// remembered is how the vertices at the frontier are joined so far. What comes out is a decision diagram, which is a
// circuit.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "anesi/logic/circuit.h"

namespace anesi {

struct UndirectedGraph {
  int vertices = 0;
  std::vector<std::pair<int, int>> edges = {};
};

// Vertices row by row. Edges inside rows first, row by row, then those inside columns, column by column.
UndirectedGraph grid_graph(int rows, int columns);

// The edges in the order in which the frontier passes them: those that meet are near each other.
std::vector<int> frontier_order(const UndirectedGraph& graph);

// Variable 1 + v says that vertex v is an end of the path, 1 + vertices + e that edge e is on it. Exactly two vertices
// are ends, and the path has an edge. For graphs whose frontier is narrow, as a grid of up to about 8 by 8 is.
Circuit simple_path_circuit(const UndirectedGraph& graph);

}  // namespace anesi
