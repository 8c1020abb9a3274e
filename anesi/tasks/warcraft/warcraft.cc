// Warcraft path planning (section 4.3 of the paper): the cheapest path over a map, from pictures of maps with their
// paths.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "anesi/builtin/path_planning.h"
#include "anesi/builtin/warcraft.h"
#include "anesi/core/error.h"
#include "anesi/data/terrain.h"
#include "anesi/perception/tile_cnn.h"
#include "anesi/tasks/task.h"
#include "anesi/tasks/warcraft/map_resnet.h"
#include "anesi/tasks/warcraft/map_svg.h"
#include "anesi/tasks/warcraft/windows.h"

namespace anesi {
namespace {

struct WarcraftTaskOptions {
  WarcraftOptions maps = {};
  std::int64_t window = 12;

  void describe(OptionTable& table) {
    maps.describe(table);
    table.add("window", window, {2, 100}, "cells of a side of the windows that train.pieces learns from");
  }
};

const std::vector<std::string> kPlain{"q.architecture=grid",
                                      "prior.kind=palette",
                                      "q.pretrain=700",
                                      "q.samples=48",
                                      "q.lr=0.015",
                                      "q.schedule=cosine",
                                      "q.joint_lr=0.005",
                                      "q.every=2",
                                      "q.clip=20",
                                      "q.trace=20",
                                      "train.pieces=true",
                                      "train.batch=32",
                                      "train.epochs=1",
                                      "train.lr=0.003",
                                      "train.schedule=cosine",
                                      "train.entropy=0.025",
                                      "train.last_entropy=0.0001",
                                      "train.starts=5",
                                      "train.start_steps=90",
                                      "eval.beam=1",
                                      "eval.prune=true"};

// Plain, then perception on kinds of tiles, whose values are judged so.
std::vector<std::string> with_kinds(const std::string& judge) {
  auto settings = kPlain;
  settings.push_back("kinds.judge=" + judge);
  for (const char* more :
       {"refine.epochs=1", "refine.labels=kinds", "refine.fresh=false", "refine.batch=512", "refine.lr=0.003",
        "refine.schedule=cosine", "refine.weight_decay=0", "refine.smoothing=0", "refine.q_steps=600"}) {
    settings.emplace_back(more);
  }
  return settings;
}

const std::vector<Preset> kPresets{
    {"default",
     "a learned planner q, perception through it on windows of maps, then on the kinds of tiles that q likes best",
     with_kinds("q")},
    {"plain", "the same without kinds: gradients through q alone", kPlain},
    {"polish", "the same with kinds of tiles that make the training paths cheapest; calls the solver on them",
     with_kinds("problem")},
    {"paper",
     "the paper's: a ResNet18 that is asked at every step, learned beforehand on a fixed Dirichlet",
     {"q.architecture=resnet", "prior.kind=fixed", "prior.concentration=0.005", "q.pretrain=185000", "q.samples=200",
      "q.lr=0.00025", "q.schedule=constant", "q.frozen=true", "q.given=false", "train.batch=70", "train.epochs=1",
      "train.lr=0.0084", "train.schedule=constant", "eval.beam=1", "eval.prune=true"}},
    {"resnet",
     "a ResNet18 that looks at whole maps and marks the path, without knowledge",
     {"task.reader=map", "loss=exact", "exact.method=automaton", "train.batch=70", "train.epochs=10", "train.lr=0.0005",
      "train.schedule=constant", "eval.beam=1"}},
    {"supervised",
     "perception told the true terrain of every cell: a ceiling, not a result",
     {"q.architecture=grid", "prior.kind=palette", "q.pretrain=0", "q.frozen=true", "train.epochs=0", "refine.epochs=1",
      "refine.labels=truth", "refine.batch=512", "refine.lr=0.003", "refine.schedule=cosine", "refine.weight_decay=0",
      "refine.smoothing=0", "eval.beam=1"}},
    {"q+rloo",
     "the learned planner, then perception through it and through drawn worlds at once",
     {"loss=amortized+rloo", "q.architecture=grid", "prior.kind=palette", "q.pretrain=700", "q.samples=48",
      "q.lr=0.015", "q.schedule=cosine", "q.clip=20", "q.trace=20", "q.frozen=true", "train.batch=70",
      "train.epochs=10", "train.lr=0.0005", "train.schedule=constant", "eval.beam=1", "eval.prune=true"}},
    {"indecater",
     "no q: IndeCateR, worlds drawn and solved again with each tile changed; loss=gumbel: straight-through",
     {"loss=indecater", "q.architecture=grid", "train.batch=70", "train.epochs=10", "train.lr=0.0005",
      "train.schedule=constant", "eval.beam=1", "eval.prune=true"}},
    {"rloo",
     "no q: worlds are drawn and solved, REINFORCE with a leave-one-out baseline",
     {"loss=rloo", "q.architecture=grid", "train.batch=70", "train.epochs=10", "train.lr=0.0005",
      "train.schedule=constant", "eval.beam=1", "eval.prune=true"}},
};

// Of directions, in the order of grid_walk.h.
constexpr std::array<std::string_view, kDirections> kCompass{"NW", "N", "NE", "W", "E", "SW", "S", "SE"};

// A path as compass directions.
std::string show_path(Values path) {
  std::string text;
  for (const auto direction : path) {
    if (direction == kNone) break;
    text += fmt::format("{}{}", text.empty() ? "" : " ", kCompass.at(static_cast<std::size_t>(direction)));
  }
  return text;
}

// And back, ended by kNone up to its longest length.
std::vector<std::int64_t> read_path(const std::string& text, std::int64_t longest) {
  std::vector<std::int64_t> path;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto place = std::ranges::find(kCompass, word);
    if (place == kCompass.end() || std::ssize(path) == longest) {
      throw UsageError(fmt::format("a path here is up to {} directions from N, NE, E, SE, S, SW, W, NW", longest));
    }
    path.push_back(place - kCompass.begin());
  }
  path.resize(static_cast<std::size_t>(longest), kNone);
  return path;
}

class MapsOnPaper final : public Presentation {
 public:
  MapsOnPaper(const GridWalk& walk, std::int64_t longest) : walk_(walk), longest_(longest) {}

  std::string layout(Values world) const override {
    std::string text;
    for (std::size_t cell = 0; cell < world.size(); ++cell) {
      if (cell > 0 && cell % static_cast<std::size_t>(walk_.side) == 0) text += '\n';
      text += kTerrainLetters[static_cast<std::size_t>(world[cell])];
    }
    return text;
  }
  std::string value(std::int64_t /*cell*/, std::int64_t value) const override {
    static const std::array<std::string, kTerrains> kNames{"grass", "ground", "trees", "water", "rocks"};
    return kNames.at(static_cast<std::size_t>(value));
  }
  std::string output(Values output) const override { return show_path(output); }
  std::vector<std::int64_t> read_output(const std::string& text) const override {
    const bool numbers = !text.empty() && text.find_first_not_of("0123456789-, ") == std::string::npos;
    return numbers ? Presentation::read_output(text) : read_path(text, longest_);
  }
  std::int64_t columns() const override { return walk_.side; }
  std::string variable(std::int64_t cell) const override {
    return fmt::format("row {} column {}", cell / walk_.side + 1, cell % walk_.side + 1);
  }
  std::optional<std::string> draw(const Picture& picture) const override { return map_svg(walk_, picture); }

 private:
  GridWalk walk_;
  std::int64_t longest_;
};

Task make_warcraft(const WarcraftTaskOptions& options, const TaskContext& context) {
  auto task = task_of(warcraft(options.maps, context));
  const auto side = options.maps.size, window = std::min(options.window, side);
  if (options.maps.reader == MapReader::kMap) {
    task.make_perception = [side] { return std::make_shared<MapResNet>(side); };
    return task;
  }
  const auto problem = std::dynamic_pointer_cast<const PathPlanning>(task.problem);
  const auto piece = std::make_shared<const PathPlanning>(window, PathEnds::kAny);
  task.pieces =
      Pieces{piece, [problem, piece](const Examples& examples, const torch::Tensor& rows, at::Generator generator) {
               return draw_windows(examples, rows, problem->walk(), piece->walk().side, piece->outputs().variables(),
                                   std::move(generator));
             }};
  task.wholes = Pieces{std::make_shared<const PathPlanning>(side, PathEnds::kAny),
                       [problem](const Examples& examples, const torch::Tensor& rows, const at::Generator&) {
                         return whole_maps(examples, rows, problem->walk());
                       }};
  task.make_perception = [] { return std::make_shared<TileCnn>(kTerrains); };
  task.presentation = std::make_shared<MapsOnPaper>(problem->walk(), problem->outputs().variables());
  return task;
}

ANESI_TASK(WarcraftOptions::kName, WarcraftOptions::kSummary, WarcraftTaskOptions, kPresets, make_warcraft);

}  // namespace
}  // namespace anesi
