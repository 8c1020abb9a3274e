#include "anesi/builtin/warcraft.h"

#include <algorithm>
#include <utility>

#include "anesi/builtin/maps.h"
#include "anesi/builtin/path_planning.h"
#include "anesi/exact/automaton.h"

namespace anesi {
namespace {

// What a network that looks at whole maps knows: nothing. The output is the world.
std::shared_ptr<const Problem> path_marks(std::int64_t side) {
  const auto marks = Space::uniform(side * side, 2);
  std::vector<ReadingStep> steps;
  for (std::int64_t cell = 0; cell < marks.variables(); ++cell) steps.push_back({{cell}, cell, 0});
  return with(
      make_problem(marks, marks, [](Values world, MutableValues output) { std::ranges::copy(world, output.begin()); }),
      Automaton(ReadingOrder(marks, marks, std::move(steps)), 1, 0, [](std::int64_t, Values read, std::int64_t) {
        return Automaton::Move{read[0], 0};
      }));
}

// The same maps, with the cells of each path for outputs and worlds.
void mark_paths(ExampleArrays& maps, const GridWalk& walk) {
  const auto paths = points_of(*maps.outputs);
  Points marks(paths.size(), walk.cells());
  for (std::int64_t row = 0; row < paths.size(); ++row)
    std::ranges::copy(crossed_cells(walk, paths[row]), marks[row].begin());
  maps.outputs = maps.worlds = array_of(std::move(marks));
}

SplitArrays load_maps(const PathPlanning& problem, const WarcraftOptions& options, const TaskContext& context) {
  // A directory of digits (ANESI_DATA may name one) is not meant for this task.
  const bool reads = context.data && !std::filesystem::exists(*context.data / "train-images-idx3-ubyte");
  if (!reads) {
    return draw_maps(
        problem, {.train = options.maps, .validation = context.validation ? options.tests : 0, .test = options.tests},
        context.seed);
  }
  auto splits = read_maps(problem, *context.data);
  if (!context.validation) splits.validation.reset();
  return splits;
}

}  // namespace

Builtin warcraft(const WarcraftOptions& options, const TaskContext& context) {
  const auto problem = std::make_shared<const PathPlanning>(options.size);
  Builtin task{.problem = problem,
               .load = [problem, options, context] { return load_maps(*problem, options, context); }};
  if (options.reader == MapReader::kMap) {
    task.problem = path_marks(options.size);
    task.load = [problem, load = task.load] {
      auto splits = load();
      mark_paths(splits.train, problem->walk());
      if (splits.validation) mark_paths(*splits.validation, problem->walk());
      mark_paths(splits.test, problem->walk());
      return splits;
    };
    return task;
  }
  task.export_data = [problem, options, context](const std::filesystem::path& directory) {
    auto all = context;
    all.validation = true;
    write_maps(*problem, load_maps(*problem, options, all), directory);
  };
  return task;
}

namespace {
ANESI_BUILTIN(WarcraftOptions, warcraft);
}  // namespace

}  // namespace anesi
