// Shortest paths in a grid of which some edges are missing: outputs under a hard constraint.
//
// A network is shown which edges there are and which two vertices are to be joined, and is to name the edges of the
// shortest path. What is known: whatever the answer, it is a simple path between those two vertices. The ends are
// variables of the world that the input tells.
#include <fmt/format.h>

#include <numeric>

#include "anesi/builtin/grid_path.h"
#include "anesi/formula/constraint.h"
#include "anesi/perception/tabular_mlp.h"
#include "anesi/tasks/task.h"

namespace anesi {
namespace {

struct GridPathTaskOptions {
  GridPathOptions paths = {};
  TabularMlpOptions network = {};

  void describe(OptionTable& table) {
    paths.describe(table);
    network.describe(table);
  }
};

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

Task make_grid_path(const GridPathTaskOptions& options, const TaskContext& context) {
  auto task = task_of(grid_path(options.paths, context));
  const auto graph = path_grid(options.paths.side);
  const auto vertices = std::int64_t{graph.vertices}, edges = static_cast<std::int64_t>(graph.edges.size());
  task.make_perception = [network = options.network, vertices, edges] {
    std::vector<std::int64_t> told(static_cast<std::size_t>(vertices));
    std::iota(told.begin(), told.end(), edges);
    return std::make_shared<TabularMlp>(edges + vertices, Space::uniform(edges, 2), network, told);
  };
  task.presentation = std::make_shared<PathPresentation>(graph);
  return task;
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

ANESI_TASK(GridPathOptions::kName, GridPathOptions::kSummary, GridPathTaskOptions, kGridPathPresets, make_grid_path);

}  // namespace
}  // namespace anesi
