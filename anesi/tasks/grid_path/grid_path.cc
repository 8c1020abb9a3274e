// Shortest paths in a grid of which some edges are missing: outputs under a hard constraint.
//
// A network is shown which edges there are and which two vertices are to be joined, and is to name the edges of the
// shortest path. What is known: whatever the answer, it is a simple path between those two vertices. The ends are
// variables of the world that the input tells.
#include <fmt/format.h>

#include <numeric>

#include "anesi/data/path_data.h"
#include "anesi/formula/constraint.h"
#include "anesi/perception/tabular_mlp.h"
#include "anesi/tasks/task.h"
#include "anesi/tensors/arrays.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/structured_examples.h"

namespace anesi {
namespace {

constexpr int kPublishedSide = 4;
constexpr std::int64_t kGenerated = 1610;  // as many as were published

struct GridPathOptions {
  std::int64_t side = kPublishedSide;
  TabularMlpOptions network = {};
  StructuredOptions structured = {};

  void describe(OptionTable& table) {
    table.add("side", side, {2, 7}, "vertices in a row of the grid");
    network.describe(table);
    structured.describe(table);
  }
};

// The same grid with its edges numbered as the frontier passes them: a world's variables are chosen in that order, and
// what the constraint says of an edge then hangs on those just before it.
UndirectedGraph in_frontier_order(const UndirectedGraph& graph) {
  UndirectedGraph ordered{.vertices = graph.vertices};
  for (const auto edge : frontier_order(graph)) ordered.edges.push_back(graph.edges[static_cast<std::size_t>(edge)]);
  return ordered;
}

// Worlds of a grid, for the same grid in that order.
torch::Tensor reordered(const Points& worlds, const UndirectedGraph& graph) {
  const auto order = frontier_order(graph);
  const auto edges = torch::tensor(std::vector<std::int64_t>(order.begin(), order.end()));
  const auto places = torch::cat({torch::arange(graph.vertices, torch::kInt64), edges + graph.vertices});
  return tensor_of(worlds.rows()).index_select(1, places);
}

class PathPresentation final : public Presentation {
 public:
  explicit PathPresentation(UndirectedGraph graph) : graph_(std::move(graph)) {}

  std::string world(Values world) const override {
    std::string text;
    for (std::size_t edge = 0; edge < graph_.edges.size(); ++edge) {
      if (world[static_cast<std::size_t>(graph_.vertices) + edge] != 1) continue;
      const auto [from, to] = graph_.edges[edge];
      text += fmt::format("{}{}-{}", text.empty() ? "" : " ", from, to);
    }
    return text.empty() ? "no edge" : text;
  }
  std::string output(Values output) const override { return output[0] == kSatisfied ? "a path" : "no path"; }
  std::vector<std::int64_t> read_output(const std::string& text) const override {
    return read_named_output(text, {"no path", "a path"});
  }
  std::string variable(std::int64_t variable) const override {
    if (variable < graph_.vertices) return fmt::format("end {}", variable);
    const auto [from, to] = graph_.edges[static_cast<std::size_t>(variable - graph_.vertices)];
    return fmt::format("edge {}-{}", from, to);
  }
  std::string output_variable(std::int64_t) const override { return "constraint"; }

 private:
  UndirectedGraph graph_;
};

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
  known.variables.resize(static_cast<std::size_t>(graph.vertices));
  std::iota(known.variables.begin(), known.variables.end(), 0);
  known.draw = draw_ends;
  return make_constraint(
      std::make_shared<CompiledFormula>(CompiledFormula{simple_path_circuit(graph), std::move(encoding)}),
      std::move(known));
}

Task make_grid_path(const GridPathOptions& options, const TaskContext& context) {
  const auto grid = grid_graph(static_cast<int>(options.side), static_cast<int>(options.side));
  const auto graph = in_frontier_order(grid);
  const auto vertices = std::int64_t{graph.vertices}, edges = static_cast<std::int64_t>(graph.edges.size());
  return Task{.problem = path_problem(graph),
              .make_perception =
                  [network = options.network, vertices, edges] {
                    std::vector<std::int64_t> told(static_cast<std::size_t>(vertices));
                    std::iota(told.begin(), told.end(), edges);
                    return std::make_shared<TabularMlp>(edges + vertices, Space::uniform(edges, 2), network, told);
                  },
              .load =
                  [grid, options, context] {
                    const auto file = context.data ? *context.data / "grid4-paths.csv" : std::filesystem::path();
                    const bool published = options.side == kPublishedSide && std::filesystem::exists(file);
                    if (!published && context.say)
                      context.say("no published paths there: making some of the same kind");
                    const auto data = published ? read_paths(file, grid) : make_paths(grid, kGenerated, context.seed);
                    return split_structured(tensor_of(data.inputs), reordered(data.worlds, grid), grid.vertices,
                                            options.structured, context.seed,
                                            published ? file.filename().string() : "generated");
                  },
              .presentation = std::make_shared<PathPresentation>(graph)};
}

const std::vector<Preset> kGridPathPresets{
    {"default",
     "a wide network through exact inference: -log p(w|y,P)",
     {"loss=exact", "exact.method=circuit", "eval.decide=constrained", "train.keep=best", "train.epochs=150",
      "train.evaluate_every=10", "train.batch=32", "train.lr=0.001", "train.weight_decay=0.1"}},
    {"published",
     "the network of the published figures, five layers of 50, through exact inference",
     {"loss=exact", "exact.method=circuit", "eval.decide=constrained", "train.keep=best", "train.epochs=150",
      "train.evaluate_every=10", "train.batch=32", "train.lr=0.001", "task.layers=5", "task.width=50"}},
    {"amortized",
     "the wide network through a q that learns the constraint from solutions, under the pruner",
     {"loss=amortized",
      "q.architecture=mlp",
      "mlp.layers=1",
      "mlp.width=256",
      "mlp.follow_beliefs=true",
      "mlp.log_beliefs=true",
      "q.variant=prune",
      "q.policy=solutions",
      "q.samples=128",
      "q.worlds=4",
      "q.perceived=true",
      "q.counted=32",
      "q.pretrain=1500",
      "q.lr=0.001",
      "q.every=4",
      "eval.decide=constrained",
      "eval.beam=32",
      "train.keep=best",
      "train.epochs=60",
      "train.evaluate_every=10",
      "train.batch=32",
      "train.lr=0.001",
      "train.weight_decay=0.1"}},
    {"alone",
     "that network alone, which knows nothing of the constraint; semantic.weight and semantic.entropy add to its loss",
     {"loss=semantic", "semantic.weight=0", "exact.method=circuit", "eval.decide=symbolic", "train.keep=best",
      "train.epochs=150", "train.evaluate_every=10", "train.batch=32", "train.lr=0.001", "task.layers=5",
      "task.width=50"}},
};

ANESI_TASK("grid-path", "the shortest path in a grid with missing edges, under the constraint that it is a path",
           GridPathOptions, kGridPathPresets, make_grid_path);

}  // namespace
}  // namespace anesi
