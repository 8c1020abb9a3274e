// A formula of the user's own as a task: knowledge as text.
//
// The data are a folder with inputs.npy, numbers [examples, features], and labels.npy, integers: worlds
// [examples, world variables] where the formula is a constraint, else outputs [examples, output variables]. Without
// them, examples are made up: worlds at random (that satisfy a constraint), seen as noisy vectors.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "anesi/core/error.h"
#include "anesi/data/structured_splits.h"
#include "anesi/formula/constraint.h"
#include "anesi/formula/formula.h"
#include "anesi/io/npy.h"
#include "anesi/models/exact_model.h"
#include "anesi/models/sample.h"
#include "anesi/perception/tabular_mlp.h"
#include "anesi/tasks/task.h"
#include "anesi/tensors/array_examples.h"
#include "anesi/tensors/arrays.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr std::int64_t kFeatures = 8;               // of each variable, in examples that are made up
constexpr std::int64_t kMostNumbers = 250'000'000;  // in examples that are made up
constexpr int kMostDraws = 1000;                    // of worlds until one satisfies a constraint that does not compile

// What goes together on a tray, to try things out with; examples/meal.cnf says it in words.
constexpr const char* kMeal =
    "p cnf 9 12\n1 2 3 0 -1 -2 0 -1 -3 0 -2 -3 0 4 5 6 0 -4 -5 0 -4 -6 0 -5 -6 0\n"
    "-1 -6 0 -2 -5 0 -9 4 0 -8 7 0\n";

struct CnfOptions {
  std::string knowledge, outputs;
  FormulaAs as = FormulaAs::kConstraint;
  double seconds = 5, noise = 1;
  std::int64_t examples = 2000;
  TabularMlpOptions network{.layers = 2, .width = 100};
  StructuredOptions structured = {};

  void describe(OptionTable& table) {
    table.add(
        "knowledge", knowledge, {},
        "the formula: a file in DIMACS (.cnf), or a circuit (.nnf, .sdd); empty: a small one of what goes together "
        "on a tray");
    table.add("as", as,
              "what the formula is: a constraint that labels satisfy; clauses whose truth is the output; or the "
              "definition of outputs by the variables that it shows");
    table.add(
        "outputs", outputs, {},
        "variables of a definition that are outputs, with spaces or commas between; empty: all that are not shown");
    table.add("seconds", seconds, {0, 1000000}, "for compiling the formula; 0: do not");
    table.add("examples", examples, {10, 10000000}, "to make up where there are no data");
    table.add("noise", noise, {0, 1000}, "of what perception is shown then");
    network.describe(table);
    structured.describe(table);
  }
};

std::vector<int> variables_of(const std::string& text) {
  std::vector<int> variables;
  const auto *at = text.data(), *const end = text.data() + text.size();
  while (at < end) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    int variable = 0;
    const auto [next, failure] = std::from_chars(at, end, variable);
    if (failure != std::errc() || variable < 1) {
      throw UsageError(fmt::format("task.outputs: \"{}\" is no list of variables", text));
    }
    variables.push_back(variable);
    at = next;
  }
  return variables;
}

struct Table {
  torch::Tensor inputs, labels;
};

Table read_table(const std::filesystem::path& directory, const Problem& problem, bool constrained) {
  Table table{tensor_of(read_npy(directory / "inputs.npy")).to(torch::kFloat32),
              tensor_of(read_npy(directory / "labels.npy")).to(torch::kInt64)};
  const auto& wanted = constrained ? problem.worlds() : problem.outputs();
  if (table.labels.dim() == 1) table.labels = table.labels.unsqueeze(1);
  if (table.inputs.dim() != 2 || table.labels.dim() != 2 || table.inputs.size(0) != table.labels.size(0)) {
    throw Error(fmt::format("{}: inputs.npy [examples, features] and labels.npy [examples, variables] are wanted",
                            directory.string()));
  }
  for (std::int64_t row = 0; row < table.labels.size(0); ++row) {
    const auto label = values_of(table.labels[row]);
    const auto complaint = wanted.complaint(label);
    if (!complaint.empty()) throw Error(fmt::format("labels.npy: example {}: {}", row, complaint));
    if (constrained && apply_to(problem, label)[0] != kSatisfied) {
      throw Error(fmt::format("labels.npy: example {} does not satisfy the constraint", row));
    }
  }
  return table;
}

// Worlds at random; such as satisfy a constraint, where it is one.
torch::Tensor draw_worlds(const Problem& problem, bool constrained, std::int64_t count,
                          const at::Generator& generator) {
  const auto beliefs = uniform_beliefs(count, problem.worlds());
  if (!constrained) return sample_worlds(beliefs, generator);
  const auto wanted = torch::full({count, 1}, kSatisfied, torch::kInt64);
  if (const auto exact = find_exact(problem, 1)) return exact->sample(beliefs, wanted, generator);
  auto worlds = sample_worlds(beliefs, generator);
  for (int draws = 0; draws < kMostDraws; ++draws) {
    const auto wrong = apply(problem, worlds).ne(kSatisfied);
    if (!wrong.any().item<bool>()) return worlds;
    worlds = torch::where(wrong, sample_worlds(beliefs, generator), worlds);
  }
  throw Error("making examples: too few worlds satisfy the constraint to find some by chance; give --data");
}

// Each variable is seen as a vector of its value's own, and noise.
Table make_table(const Problem& problem, bool constrained, const CnfOptions& options, std::uint64_t seed) {
  const auto generator = seeded(seed);
  const auto& space = problem.worlds();
  const auto numbers = space.variables() * (kFeatures + space.largest_domain());
  if (options.examples > kMostNumbers / numbers) {
    throw Error(fmt::format(
        "making examples: {} of {} variables take too much memory; set task.examples={} or less, or give --data",
        options.examples, space.variables(), std::max<std::int64_t>(10, kMostNumbers / numbers)));
  }
  const auto worlds = draw_worlds(problem, constrained, options.examples, generator);
  const auto vectors = torch::randn({space.variables(), space.largest_domain(), kFeatures}, generator);
  std::vector<torch::Tensor> seen;
  for (std::int64_t variable = 0; variable < space.variables(); ++variable) {
    seen.push_back(vectors[variable].index_select(0, worlds.select(1, variable)));
  }
  const auto clear = torch::cat(seen, 1);
  return {clear + options.noise * torch::randn(clear.sizes(), generator),
          constrained ? worlds : apply(problem, worlds)};
}

Splits split_outputs(const Table& table, std::uint64_t seed, const std::string& origin) {
  const auto count = table.inputs.size(0);
  const auto order = torch::randperm(count, seeded(seed), torch::kInt64);
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    const auto rows = order.slice(0, begin, end);
    return tensor_examples(table.inputs.index_select(0, rows), Observations(table.labels.index_select(0, rows)));
  };
  Splits splits;
  splits.train = part(0, count * 3 / 5);
  splits.validation = part(count * 3 / 5, count * 4 / 5);
  splits.test = part(count * 4 / 5, count);
  splits.origin = origin;
  return splits;
}

Task make_cnf(const CnfOptions& options, const TaskContext& context) {
  const FormulaOptions as{.as = options.as, .outputs = variables_of(options.outputs), .seconds = options.seconds};
  const auto problem = options.knowledge.empty() ? formula_problem(parse_dimacs(kMeal, "meal"), as)
                                                 : read_formula_problem(options.knowledge, as, context.say);
  const bool constrained = options.as == FormulaAs::kConstraint;
  const bool from_files = context.data && std::filesystem::exists(*context.data / "inputs.npy");
  auto features = kFeatures * problem->worlds().variables();
  if (from_files) {
    const auto inputs = tensor_of(read_npy(*context.data / "inputs.npy"));
    features = inputs.dim() == 2 ? inputs.size(1) : 1;
  }
  return Task{
      .problem = problem,
      .make_perception = [network = options.network, features,
                          space = problem->worlds()] { return std::make_shared<TabularMlp>(features, space, network); },
      .load =
          [=] {
            const auto table = from_files ? read_table(*context.data, *problem, constrained)
                                          : make_table(*problem, constrained, options, context.seed);
            const std::string origin = from_files ? "inputs.npy" : "generated";
            if (!constrained) return split_outputs(table, context.seed, origin);
            return examples_of(split_structured(array_of(table.inputs), Points(rows_of(table.labels.contiguous())), 0,
                                                options.structured, context.seed, origin));
          }};
}

const std::vector<Preset> kCnfPresets{
    {"default",
     "a constraint that labels satisfy, through exact inference on its circuit",
     {"loss=exact", "eval.decide=constrained", "train.keep=best", "train.epochs=30", "train.batch=32",
      "train.lr=0.001"}},
    {"amortized",
     "the same through a q that learns from samples, under the pruner: where no circuit compiles",
     {"loss=amortized", "q.architecture=mlp", "mlp.layers=1", "mlp.width=64", "mlp.follow_beliefs=true",
      "q.variant=prune", "q.policy=solutions", "q.samples=128", "q.lr=0.003", "q.schedule=cosine", "q.frozen=true",
      "q.pretrain=500", "task.doubt=0.1", "eval.decide=constrained", "eval.beam=8", "train.keep=best",
      "train.epochs=30", "train.batch=32", "train.lr=0.001"}},
    {"outputs",
     "labels are outputs: for task.as=clauses or definition",
     {"q.architecture=auto", "train.keep=best", "train.epochs=30", "train.batch=32", "train.lr=0.001"}},
};

ANESI_TASK("cnf", "a formula of your own: constraints, clauses or definitions in DIMACS, or a compiled circuit",
           CnfOptions, kCnfPresets, make_cnf);

}  // namespace
}  // namespace anesi
