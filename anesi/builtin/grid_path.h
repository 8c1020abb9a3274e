// Grids of which some edges are missing, labelled with the shortest path between two vertices.
#pragma once

#include "anesi/builtin/builtin.h"
#include "anesi/data/simple_paths.h"
#include "anesi/data/structured_splits.h"

namespace anesi {

struct GridPathOptions {
  static constexpr const char* kName = "grid-path";
  static constexpr const char* kSummary =
      "the shortest path in a grid with missing edges, under the constraint that it is a path";

  std::int64_t side = 4;  // as in the published data
  StructuredOptions structured = {};

  void describe(OptionTable& table) {
    table.add("side", side, {2, 7}, "vertices in a row of the grid");
    structured.describe(table);
  }
};

// The constraint: whatever the answer, it is a simple path between the two vertices. The ends are variables of the
// world that the input tells; then come the edges of path_grid().
Builtin grid_path(const GridPathOptions& options, const TaskContext& context);

// The grid with its edges numbered as the frontier passes them: a world's variables are chosen in that order, and what
// the constraint says of an edge then hangs on those just before it.
UndirectedGraph path_grid(std::int64_t side);

}  // namespace anesi
