// A label says that all pairs of cells that must differ do, or that not all of them do. No digit is labelled, so which
// name perception gives to which digit is its own choice.
#include "anesi/builtin/visual_sudoku.h"

#include <algorithm>
#include <utility>

#include "anesi/builtin/sudoku.h"
#include "anesi/core/index.h"
#include "anesi/data/published_puzzles.h"
#include "anesi/data/puzzles.h"

namespace anesi {
namespace {

PuzzleParts load_puzzles(const PuzzleOptions& options, const TaskContext& context) {
  // A directory of digits makes puzzles; any other is taken for one of puzzles, whose reader says what is missing.
  if (context.data && !std::filesystem::exists(*context.data / "train-images-idx3-ubyte")) {
    return read_published_puzzles(*context.data, options);
  }
  return generate_puzzles(context.digits(), options);
}

// Labels as observations: all pairs differ, or not all do.
ExampleArrays observed(Puzzles puzzles, const Sudoku& sudoku) {
  const auto size = puzzles.size(), pairs = sudoku.outputs().variables();
  Array holds(NumberType::kBool, {size});
  std::ranges::copy(puzzles.valid, holds.values<bool>().begin());
  for (auto& digit : puzzles.cells.rows().values()) {
    if (digit < 0) digit = kUnset;
  }
  return {.inputs = puzzles.pool,
          .index = array_of(std::move(puzzles.index)),
          .outputs = array_of(Points(size, pairs, 1)),
          .holds = holds,
          .worlds = array_of(std::move(puzzles.cells))};
}

// Labels as the value of the only variable there is.
ExampleArrays classified(Puzzles puzzles) {
  Points valid(puzzles.size(), 1);
  std::ranges::copy(puzzles.valid, valid.rows().data());
  const auto labels = array_of(std::move(valid));
  return {.inputs = puzzles.pool, .index = array_of(std::move(puzzles.index)), .outputs = labels, .worlds = labels};
}

}  // namespace

Builtin visual_sudoku(const VisualSudokuOptions& options, const TaskContext& context) {
  const PuzzleOptions puzzles{.size = options.size, .split = options.split, .puzzles = options.puzzles};
  const auto sudoku = std::make_shared<const Sudoku>(options.size);
  const bool by_cells = options.reader == PuzzleReader::kCells;
  Builtin task{.problem = sudoku, .load = [=] {
                 const auto parts = load_puzzles(puzzles, context);
                 const auto arrays = [&](const Puzzles& part) {
                   return by_cells ? observed(part, *sudoku) : classified(part);
                 };
                 return SplitArrays{arrays(parts.train), arrays(parts.validation), arrays(parts.test), parts.origin};
               }};
  if (!by_cells) {
    task.problem = make_problem(Space{2}, Space{2}, [](Values world, MutableValues output) { output[0] = world[0]; });
  }
  task.export_data = [puzzles, context](const std::filesystem::path& directory) {
    write_published_puzzles(load_puzzles(puzzles, context), directory);
  };
  return task;
}

namespace {
ANESI_BUILTIN(VisualSudokuOptions, visual_sudoku);
}  // namespace

}  // namespace anesi
