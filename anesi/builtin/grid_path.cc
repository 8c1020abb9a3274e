#include "anesi/builtin/grid_path.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "anesi/core/index.h"
#include "anesi/core/known_variables.h"
#include "anesi/data/path_data.h"
#include "anesi/formula/constraint.h"

namespace anesi {
namespace {

constexpr std::int64_t kPublishedSide = 4;
constexpr std::int64_t kGenerated = 1610;  // as many as were published

UndirectedGraph plain_grid(std::int64_t side) { return grid_graph(static_cast<int>(side), static_cast<int>(side)); }

// Worlds of a grid, for the same grid with its edges in the order of the frontier.
Points reordered(const Points& worlds, const UndirectedGraph& graph) {
  const auto vertices = as_size(graph.vertices);
  const auto order = frontier_order(graph);
  Points result(worlds.size(), worlds.width());
  for (std::int64_t row = 0; row < worlds.size(); ++row) {
    const auto from = worlds[row];
    const auto edges = std::ranges::copy(from.first(vertices), result[row].begin()).out;
    std::ranges::transform(order, edges, [&](int edge) { return from[vertices + as_size(edge)]; });
  }
  return result;
}

// Two ends of a path at random, as bits of all vertices.
void draw_ends(Random& random, MutableValues vertices) {
  std::ranges::fill(vertices, 0);
  const auto first = random.below(vertices.size());
  vertices[first] = 1;
  vertices[(first + 1 + random.below(vertices.size() - 1)) % vertices.size()] = 1;
}

std::shared_ptr<const Problem> path_problem(const UndirectedGraph& graph) {
  Encoding encoding;
  const auto variables = graph.vertices + static_cast<int>(graph.edges.size());
  for (int variable = 1; variable <= variables; ++variable) encoding.worlds.push_back({-variable, variable});
  KnownVariables known;
  known.variables.resize(as_size(graph.vertices));
  std::iota(known.variables.begin(), known.variables.end(), 0);
  known.draw = draw_ends;
  return make_constraint(
      std::make_shared<CompiledFormula>(CompiledFormula{simple_path_circuit(graph), std::move(encoding)}),
      std::move(known));
}

SplitArrays load_paths(const GridPathOptions& options, const TaskContext& context) {
  const auto grid = plain_grid(options.side);
  const auto file = context.data ? *context.data / "grid4-paths.csv" : std::filesystem::path();
  const bool published = options.side == kPublishedSide && std::filesystem::exists(file);
  if (!published && context.say) context.say("no published paths there: making some of the same kind");
  const auto data = published ? read_paths(file, grid) : make_paths(grid, kGenerated, context.seed);
  return split_structured(data.inputs, reordered(data.worlds, grid), grid.vertices, options.structured, context.seed,
                          published ? file.filename().string() : "generated");
}

}  // namespace

UndirectedGraph path_grid(std::int64_t side) {
  const auto graph = plain_grid(side);
  UndirectedGraph ordered{.vertices = graph.vertices};
  for (const auto edge : frontier_order(graph)) ordered.edges.push_back(graph.edges[as_size(edge)]);
  return ordered;
}

Builtin grid_path(const GridPathOptions& options, const TaskContext& context) {
  return {.problem = path_problem(path_grid(options.side)),
          .load = [options, context] { return load_paths(options, context); }};
}

namespace {
ANESI_BUILTIN(GridPathOptions, grid_path);
}  // namespace

}  // namespace anesi
