// Visual sudoku (section 4.2 of the paper): is a grid of handwritten digits a valid sudoku? Labelled with that alone.
//
// What labels say: builtin/visual_sudoku.cc.
#include <fmt/format.h>

#include <algorithm>

#include "anesi/builtin/sudoku.h"
#include "anesi/builtin/visual_sudoku.h"
#include "anesi/core/error.h"
#include "anesi/perception/augment_digits.h"
#include "anesi/perception/lenet.h"
#include "anesi/tasks/task.h"
#include "anesi/tasks/visual_sudoku/puzzle_cnn.h"
#include "anesi/tasks/visual_sudoku/puzzle_svg.h"
#include "anesi/tensors/image_examples.h"

namespace anesi {
namespace {

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

torch::Tensor read_cells(const std::filesystem::path& path, std::int64_t size) {
  return read_image_example(path, size * size, "row by row");
}

class PuzzlesOnPaper final : public Presentation {
 public:
  explicit PuzzlesOnPaper(std::shared_ptr<const Sudoku> sudoku) : sudoku_(std::move(sudoku)), size_(sudoku_->size()) {}

  std::string world(Values world) const override { return rows_of(world, size_); }
  std::string output(Values output) const override { return validity(output); }
  std::string layout(Values world) const override { return grid_of(world, size_); }
  std::int64_t columns() const override { return size_; }
  std::int64_t block() const override { return block_side(size_); }
  std::string variable(std::int64_t cell) const override { return cell_name(cell, size_); }
  std::string output_variable(std::int64_t pair) const override {
    const auto& [first, second] = sudoku_->pairs()[static_cast<std::size_t>(pair)];
    return fmt::format("{} and {} must differ", cell_name(first, size_), cell_name(second, size_));
  }
  std::vector<std::int64_t> read_output(const std::string& text) const override {
    if (text != "valid")
      throw UsageError(fmt::format("output '{}': the output that can be asked for is `valid`", text));
    return sudoku_->valid();
  }
  torch::Tensor read_input(const std::filesystem::path& path) const override { return read_cells(path, size_); }
  std::optional<std::string> draw(const Picture& picture) const override {
    return puzzle_svg(*sudoku_, picture.inputs[0], picture.read, picture.explained);
  }

 private:
  std::shared_ptr<const Sudoku> sudoku_;
  std::int64_t size_;
};

class ValidOrNot final : public Presentation {
 public:
  explicit ValidOrNot(std::int64_t size) : size_(size) {}
  std::string world(Values value) const override { return value[0] == 1 ? "valid" : "invalid"; }
  std::string output(Values value) const override { return world(value); }
  std::vector<std::int64_t> read_output(const std::string& text) const override {
    if (text != "valid" && text != "invalid") {
      throw UsageError(fmt::format("output '{}': write `valid` or `invalid`", text));
    }
    return {text == "valid" ? 1 : 0};
  }
  torch::Tensor read_input(const std::filesystem::path& path) const override { return read_cells(path, size_); }

 private:
  std::int64_t size_;
};

Task make_visual_sudoku(const VisualSudokuOptions& options, const TaskContext& context) {
  auto task = task_of(visual_sudoku(options, context));
  const auto size = options.size;
  if (options.reader == PuzzleReader::kPuzzle) {
    task.make_perception = [size] { return std::make_shared<PuzzleCnn>(size); };
    task.presentation = std::make_shared<ValidOrNot>(size);
    return task;
  }
  task.make_perception = [size] { return std::make_shared<LeNet>(size); };
  task.augment = [](const torch::Tensor& inputs, at::Generator generator) {
    return augment_digits(inputs, {}, std::move(generator));
  };
  task.presentation = std::make_shared<PuzzlesOnPaper>(std::dynamic_pointer_cast<const Sudoku>(task.problem));
  return task;
}

ANESI_TASK(VisualSudokuOptions::kName, VisualSudokuOptions::kSummary, VisualSudokuOptions, kPresets,
           make_visual_sudoku);

}  // namespace
}  // namespace anesi
