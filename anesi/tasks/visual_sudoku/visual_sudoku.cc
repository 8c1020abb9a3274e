// Visual sudoku (section 4.2 of the paper): is a grid of handwritten digits a valid sudoku? Labelled with that alone.
//
// A label says that all pairs of cells that must differ do, or that not all of them do. No digit is labelled, so which
// name perception gives to which digit is its own choice.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/data/augment_digits.h"
#include "anesi/io/idx.h"
#include "anesi/perception/lenet.h"
#include "anesi/tasks/task.h"
#include "anesi/tasks/visual_sudoku/published_puzzles.h"
#include "anesi/tasks/visual_sudoku/puzzle_cnn.h"
#include "anesi/tasks/visual_sudoku/puzzle_svg.h"
#include "anesi/tasks/visual_sudoku/puzzles.h"
#include "anesi/tasks/visual_sudoku/sudoku.h"

namespace anesi {
namespace {

struct VisualSudokuOptions {
  std::int64_t size = 4, split = 1, puzzles = 100;
  std::string reader = "cells";

  void describe(OptionTable& table) {
    table.add("size", size, {4, 64}, "cells of a side, and digits: a square number (the paper's are 4 and 9)");
    table.add("split", split, {1, 11}, "which of the independent data sets; 1 to 10 are for scores, 11 for tuning");
    table.add("puzzles", puzzles, {1, 1000000}, "valid puzzles in each part; there are as many invalid ones");
    table.add("reader", reader, {"cells", "puzzle"},
              "what perception looks at: each cell, or the whole puzzle at once (a baseline without knowledge)");
  }
};

std::vector<std::string> refined(std::int64_t members) {
  return {"q.architecture=pairwise",
          "pairwise.form=table",
          "prior.kind=certain",
          "q.pretrain=400",
          "q.samples=16",
          "q.lr=0.05",
          "q.schedule=cosine",
          "q.frozen=true",
          "train.negatives=false",
          "train.batch=1",
          "train.epochs=30",
          "train.lr=0.001",
          "train.schedule=constant",
          "train.evaluate_every=10",
          "refine.epochs=50",
          "refine.batch=64",
          "refine.lr=0.004",
          "refine.augment=true",
          "refine.weight_decay=0.05",
          "refine.smoothing=0",
          "refine.restart_gap=10",
          "eval.beam=1",
          "eval.decide=gap",
          fmt::format("refine.members={}", members)};
}

const std::vector<Preset> kPresets{
    {"default", "a table over pairs, then perception on its own explanations; decided by the gap", refined(1)},
    {"ensemble", "the same with three networks", refined(3)},
    {"plain",
     "A-NeSI alone: the table over pairs, no refinement",
     {"q.architecture=pairwise", "pairwise.form=table", "prior.kind=certain", "q.pretrain=400", "q.samples=16",
      "q.lr=0.05", "q.schedule=cosine", "q.frozen=true", "train.negatives=false", "train.batch=1", "train.epochs=30",
      "train.lr=0.001", "train.schedule=constant", "train.evaluate_every=10", "eval.beam=1", "eval.decide=gap"}},
    {"paper",
     "the paper's hyperparameters, q learning from perceived beliefs too as its authors' does",
     {"q.architecture=pairwise", "pairwise.form=mlp", "pairwise.layers=2",
      "pairwise.width=100",      "prior.kind=fitted", "prior.window=2500",
      "prior.iterations=18",     "prior.lr=0.0029",   "prior.initial=0.02",
      "prior.l2=2500000",        "q.pretrain=0",      "q.perceived=true",
      "q.samples=500",           "q.chunk=8000",      "q.lr=0.003",
      "q.schedule=constant",     "train.epochs=5000", "train.frozen_epochs=50",
      "train.batch=20",          "train.lr=0.00055",  "train.schedule=constant",
      "train.evaluate_every=50", "eval.beam=1",       "eval.decide=symbolic"}},
    {"exact",
     "the semantic loss: exact inference on the compiled rules (4x4)",
     {"loss=exact", "exact.method=conditioned", "train.epochs=300", "train.batch=20", "train.lr=0.001",
      "train.schedule=constant", "train.evaluate_every=10", "eval.beam=1", "eval.decide=symbolic"}},
    {"cnn",
     "a network that looks at whole puzzles, without knowledge",
     {"task.reader=puzzle", "loss=exact", "exact.method=enumerate", "train.epochs=100", "train.batch=20",
      "train.lr=0.001", "train.schedule=constant", "train.evaluate_every=10", "eval.beam=1", "eval.decide=symbolic"}},
};

PuzzleParts load_puzzles(const PuzzleOptions& options, const TaskContext& context) {
  // A directory of digits makes puzzles; any other is taken for one of puzzles, whose reader says what is missing.
  if (context.data && !std::filesystem::exists(*context.data / "train-images-idx3-ubyte")) {
    return read_published_puzzles(*context.data, options);
  }
  return generate_puzzles(load_digits(context.data, context.say), options);
}

// Labels as observations: all pairs differ, or not all do.
Dataset observed(const Puzzles& puzzles, const Sudoku& sudoku) {
  Dataset data;
  data.pool = puzzles.pool;
  data.index = puzzles.index;
  data.outputs = sudoku.valid().unsqueeze(0).expand({puzzles.size(), -1});
  data.holds = puzzles.valid;
  data.worlds = puzzles.cells.masked_fill(puzzles.cells < 0, kUnset);
  return data;
}

// Labels as the value of the only variable there is.
Dataset classified(const Puzzles& puzzles) {
  Dataset data;
  data.pool = puzzles.pool;
  data.index = puzzles.index;
  data.outputs = data.worlds = puzzles.valid.to(torch::kInt64).unsqueeze(1);
  return data;
}

torch::Tensor read_cells(const std::filesystem::path& path, std::int64_t cells) {
  const auto images = read_idx(path);
  if (images.dim() != 3 || images.size(0) != cells || images.size(1) != 28 || images.size(2) != 28) {
    throw UsageError(fmt::format("{}: expected {} images of 28x28 (an IDX file, row by row)", path.string(), cells));
  }
  return images.to(torch::kFloat32).div(127.5).sub(1).unsqueeze(0);
}

std::string rows_of(Values world, std::int64_t size) {
  std::string text;
  for (std::size_t cell = 0; cell < world.size(); ++cell) {
    if (cell > 0) text += static_cast<std::int64_t>(cell) % size == 0 ? " / " : size > 10 ? " " : "";
    text += std::to_string(world[cell]);
  }
  return text;
}

// Rows on lines of their own, blocks apart.
std::string grid_of(Values world, std::int64_t size) {
  const auto block = block_side(size);
  std::string text;
  for (std::int64_t row = 0; row < size; ++row) {
    if (row > 0) text += row % block == 0 ? "\n\n" : "\n";
    text += "  ";
    for (std::int64_t column = 0; column < size; ++column) {
      text += fmt::format("{}{}",
                          column == 0           ? ""
                          : column % block == 0 ? "  "
                                                : " ",
                          world[static_cast<std::size_t>(row * size + column)]);
    }
  }
  return text;
}

std::string cell_name(std::int64_t cell, std::int64_t size) {
  return fmt::format("row {} column {}", cell / size + 1, cell % size + 1);
}

std::string validity(Values output) {
  const auto equal = std::count(output.begin(), output.end(), 0);
  return equal == 0 ? "valid" : fmt::format("invalid ({} pair{} equal)", equal, equal == 1 ? "" : "s");
}

Task make_visual_sudoku(const VisualSudokuOptions& options, const TaskContext& context) {
  Task task;
  const PuzzleOptions puzzles{.size = options.size, .split = options.split, .puzzles = options.puzzles};
  const auto size = options.size;
  task.read_input = [size](const std::filesystem::path& path) { return read_cells(path, size * size); };
  task.export_data = [puzzles, context](const std::filesystem::path& directory) {
    write_published_puzzles(load_puzzles(puzzles, context), directory);
  };
  if (options.reader == "puzzle") {
    const Sudoku checks_the_size(size);
    task.problem = make_problem(Space{2}, Space{2}, [](Values world, MutableValues output) { output[0] = world[0]; });
    task.make_perception = [size] { return std::make_shared<PuzzleCnn>(size); };
    task.load = [puzzles, context] {
      const auto parts = load_puzzles(puzzles, context);
      return Splits{classified(parts.train), classified(parts.validation), classified(parts.test), parts.origin};
    };
    task.show_world = task.show_output = [](Values value) { return value[0] == 1 ? "valid" : "invalid"; };
    task.read_output = [](const std::string& text) {
      if (text != "valid" && text != "invalid") {
        throw UsageError(fmt::format("output '{}': write `valid` or `invalid`", text));
      }
      return std::vector<std::int64_t>{text == "valid" ? 1 : 0};
    };
    return task;
  }
  const auto sudoku = std::make_shared<const Sudoku>(size);
  task.problem = std::make_unique<Sudoku>(size);
  task.make_perception = [size] { return std::make_shared<LeNet>(size); };
  task.augment = [](const torch::Tensor& inputs, at::Generator generator) {
    return augment_digits(inputs, {}, std::move(generator));
  };
  task.load = [puzzles, context, sudoku] {
    const auto parts = load_puzzles(puzzles, context);
    return Splits{observed(parts.train, *sudoku), observed(parts.validation, *sudoku), observed(parts.test, *sudoku),
                  parts.origin};
  };
  task.show_world = [size](Values world) { return rows_of(world, size); };
  task.show_output = validity;
  task.lay_out_world = [size](Values world) { return grid_of(world, size); };
  task.name_variable = [size](std::int64_t cell) { return cell_name(cell, size); };
  task.name_output = [sudoku](std::int64_t pair) {
    const auto cells = sudoku->pairs()[static_cast<std::size_t>(pair)];
    return fmt::format("{} and {} must differ", cell_name(cells[0], sudoku->size()),
                       cell_name(cells[1], sudoku->size()));
  };
  task.draw = [sudoku](const torch::Tensor& inputs, Values read, Values explained) {
    return puzzle_svg(*sudoku, inputs[0], read, explained);
  };
  task.question.assign(static_cast<std::size_t>(sudoku->outputs().variables()), 1);
  task.read_output = [sudoku](const std::string& text) {
    if (text != "valid")
      throw UsageError(fmt::format("output '{}': the output that can be asked for is `valid`", text));
    return std::vector<std::int64_t>(static_cast<std::size_t>(sudoku->outputs().variables()), 1);
  };
  return task;
}

ANESI_TASK("visual-sudoku", "is a grid of handwritten digits a valid sudoku? From that bit alone", VisualSudokuOptions,
           kPresets, make_visual_sudoku);

}  // namespace
}  // namespace anesi
