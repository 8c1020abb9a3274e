// Shortest paths in grids with missing edges, as examples.
//
// The published file (Semantic Loss, Xu et al. 2018) has 1,610 of them in a 4x4 grid, one a line:
//   removed edges,source-target,path[,path…]        numbers joined by '-'; edges are numbered as grid_graph() does
// An input is a row of bits: is each edge there, is each vertex an end. The label is the first path that is listed.
#pragma once

#include <filesystem>

#include "anesi/core/array.h"
#include "anesi/core/rows.h"
#include "anesi/data/simple_paths.h"

namespace anesi {

struct PathData {
  Array inputs;   // float32 [examples, edges + vertices]
  Points worlds;  // of vertices and edges: which vertices are ends, which edges are on the path
};

// Throws Error with the line where it is not such a file, or a path is none.
PathData read_paths(const std::filesystem::path& file, const UndirectedGraph& graph);

// Of the same kind: a third of the edges are missing, ends are drawn among vertices that are joined.
PathData make_paths(const UndirectedGraph& graph, std::int64_t count, std::uint64_t seed);

}  // namespace anesi
