#include "anesi/tasks/warcraft/maps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "anesi/core/error.h"
#include "anesi/data/terrain.h"
#include "anesi/io/fail.h"
#include "anesi/io/npy.h"
#include "anesi/tensors/arrays.h"
#include "anesi/tensors/image_examples.h"
#include "anesi/tensors/problem.h"

namespace anesi {
namespace {

constexpr std::int64_t kPaintedAtOnce = 500;

// Pictures [n, 8k, 8k, 3] as tiles [n * k * k, 3, 8, 8], and back.
torch::Tensor tiles_of(const torch::Tensor& pictures) {
  const auto count = pictures.size(0), side = pictures.size(1) / kTilePixels;
  return pictures.view({count, side, kTilePixels, side, kTilePixels, 3})
      .permute({0, 1, 3, 5, 2, 4})
      .reshape({count * side * side, 3, kTilePixels, kTilePixels});
}

torch::Tensor pictures_of(const torch::Tensor& tiles, std::int64_t side) {
  const auto count = tiles.size(0) / (side * side);
  return tiles.view({count, side, side, 3, kTilePixels, kTilePixels})
      .permute({0, 1, 4, 2, 5, 3})
      .reshape({count, side * kTilePixels, side * kTilePixels, 3});
}

std::shared_ptr<const Examples> make_split(torch::Tensor tiles, const torch::Tensor& worlds,
                                           const torch::Tensor& outputs) {
  auto index = torch::arange(tiles.size(0)).view({worlds.size(0), worlds.size(1)});
  return std::make_shared<ImageExamples>(std::move(tiles), std::move(index), outputs, worlds);
}

std::string in_words(const torch::Tensor& array) {
  return fmt::format("{} [{}]", torch::toString(array.scalar_type()), fmt::join(array.sizes(), ", "));
}

// An array of this type and shape; -1 stands for any size.
torch::Tensor read_array(const std::filesystem::path& path, torch::ScalarType type,
                         const std::vector<std::int64_t>& shape) {
  auto array = tensor_of(read_npy(path));
  const bool fits = array.scalar_type() == type &&
                    std::ranges::equal(array.sizes(), shape, [](std::int64_t has, std::int64_t wanted) {
                      return wanted == -1 || has == wanted;
                    });
  if (!fits) {
    fail(path, fmt::format("holds {} where {} [{}] is expected (-1: any number); task.size says how large maps are",
                           in_words(array), torch::toString(type), fmt::join(shape, ", ")));
  }
  return array;
}

// Terrains, int64 [n, cells], of costs [n, k, k].
torch::Tensor terrain_of(const torch::Tensor& costs, const std::filesystem::path& path) {
  const auto tenths = (costs.to(torch::kFloat64) * 10).round();
  auto terrain = torch::full_like(tenths, -1, torch::kInt64);
  for (std::size_t kind = 0; kind < kTerrainCosts.size(); ++kind) {
    terrain.masked_fill_(tenths == kTerrainCosts[kind], static_cast<std::int64_t>(kind));
  }
  const auto strange = (terrain < 0).nonzero();
  if (strange.size(0) > 0) {
    const auto at = strange[0].contiguous();
    const auto* const place = at.const_data_ptr<std::int64_t>();
    fail(path,
         fmt::format("map {}, row {}, column {}: a cost of {:.2f}; costs are 0.8, 1.2, 5.3, 7.7 and 9.2", place[0],
                     place[1], place[2], costs[place[0]][place[1]][place[2]].to(torch::kFloat64).item<double>()));
  }
  return terrain.flatten(1);
}

// The directions of a path that is given by its cells, as its problem writes outputs. Says in `complaint` what is
// wrong.
std::vector<std::int64_t> follow(const PathPlanning& problem, std::span<const std::uint8_t> marked,
                                 std::string& complaint) {
  const auto& walk = problem.walk();
  std::vector<std::int64_t> path(static_cast<std::size_t>(problem.outputs().variables()), kNone);
  std::vector<bool> visited(marked.size(), false);
  auto left = std::ranges::count_if(marked, [](std::uint8_t mark) { return mark != 0; });
  const auto is_marked = [&](std::int64_t cell) { return marked[static_cast<std::size_t>(cell)] != 0; };
  const auto place = [&](std::int64_t cell) {
    return fmt::format("row {}, column {}", cell / walk.side, cell % walk.side);
  };
  if (!is_marked(walk.start) || !is_marked(walk.goal)) {
    complaint = "the path does not go from the first cell to the last";
    return path;
  }
  auto cell = walk.start;
  for (std::size_t step = 0;; ++step) {
    visited[static_cast<std::size_t>(cell)] = true;
    --left;
    if (cell == walk.goal) break;
    std::int64_t taken = kNone;
    for (std::int64_t direction = 0; direction < kDirections; ++direction) {
      const auto next = walk.step(cell, direction);
      if (next == kNone || !is_marked(next) || visited[static_cast<std::size_t>(next)]) continue;
      if (taken != kNone) {
        complaint = "the path forks at " + place(cell);
        return path;
      }
      taken = direction;
    }
    if (taken == kNone || step == path.size()) {
      complaint = "the path breaks off at " + place(cell);
      return path;
    }
    path[step] = taken;
    cell = walk.step(cell, taken);
  }
  if (left > 0) complaint = fmt::format("{} cells that are marked are not on the path", left);
  return path;
}

torch::Tensor paths_of(const PathPlanning& problem, const torch::Tensor& masks, const torch::Tensor& worlds,
                       const std::filesystem::path& path) {
  const auto best = apply(problem, worlds);
  auto outputs = torch::empty_like(best);
  const auto cells = static_cast<std::size_t>(worlds.size(1)), steps = static_cast<std::size_t>(outputs.size(1));
  const auto* const marks = masks.const_data_ptr<std::uint8_t>();
  for (std::size_t map = 0; map < static_cast<std::size_t>(masks.size(0)); ++map) {
    std::string complaint;
    const auto directions = follow(problem, {marks + map * cells, cells}, complaint);
    const Values world(worlds.const_data_ptr<std::int64_t>() + map * cells, cells);
    const Values cheapest(best.const_data_ptr<std::int64_t>() + map * steps, steps);
    if (complaint.empty() && problem.cost(world, directions) != problem.cost(world, cheapest)) {
      complaint = fmt::format("the path costs {:.1f}, the cheapest {:.1f}",
                              static_cast<double>(problem.cost(world, directions)) / 10,
                              static_cast<double>(problem.cost(world, cheapest)) / 10);
    }
    if (!complaint.empty()) fail(path, fmt::format("map {}: {}", map, complaint));
    std::ranges::copy(directions, outputs.mutable_data_ptr<std::int64_t>() + map * steps);
  }
  return outputs;
}

constexpr std::array<const char*, 3> kSplits{"train", "val", "test"};

}  // namespace

Splits draw_maps(const PathPlanning& problem, const MapSizes& sizes, std::uint64_t seed) {
  const auto side = problem.walk().side;
  const auto draw = [&](std::int64_t count, std::uint64_t part) {
    const auto terrain = tensor_of(grow_terrain(count, side, 3 * seed + part));
    const auto worlds = terrain.flatten(1).to(torch::kInt64);
    // Pictures are large: never all of them beside all tiles.
    const auto tiles = torch::empty({count * side * side, 3, kTilePixels, kTilePixels}, torch::kUInt8);
    for (std::int64_t begin = 0; begin < count; begin += kPaintedAtOnce) {
      const auto end = std::min(begin + kPaintedAtOnce, count);
      const auto some = array_of(terrain.slice(0, begin, end));
      const auto pictures = tensor_of(paint_terrain(some, 3 * seed + part, begin));
      tiles.slice(0, begin * side * side, end * side * side).copy_(tiles_of(pictures));
    }
    return make_split(tiles, worlds, apply(problem, worlds));
  };
  return {draw(sizes.train, 0), draw(sizes.validation, 1), draw(sizes.test, 2), "maps drawn by a program"};
}

Splits read_maps(const PathPlanning& problem, const std::filesystem::path& directory) {
  const auto side = problem.walk().side, pixels = side * kTilePixels;
  Splits splits;
  splits.origin = "maps from " + directory.string();
  for (const std::string split : kSplits) {
    const auto file = [&](const char* what) { return directory / (split + "_" + what + ".npy"); };
    const auto pictures = read_array(file("maps"), torch::kUInt8, {-1, pixels, pixels, 3});
    const auto count = pictures.size(0);
    const auto costs = read_array(file("vertex_weights"), torch::kFloat16, {count, side, side});
    const auto masks = read_array(file("shortest_paths"), torch::kUInt8, {count, side, side});
    const auto worlds = terrain_of(costs, file("vertex_weights"));
    auto& part = split == "train" ? splits.train : split == "val" ? splits.validation : splits.test;
    part = make_split(tiles_of(pictures), worlds, paths_of(problem, masks, worlds, file("shortest_paths")));
  }
  return splits;
}

void write_maps(const PathPlanning& problem, const Splits& splits, const std::filesystem::path& directory) {
  const auto& walk = problem.walk();
  std::filesystem::create_directories(directory);
  const std::array parts{splits.train, splits.validation, splits.test};
  const auto costs = torch::tensor(std::vector<double>(kTerrainCosts.begin(), kTerrainCosts.end())) / 10;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const auto& data = dynamic_cast<const ImageExamples&>(*parts[part]);
    const auto file = [&](const char* what) { return directory / (std::string(kSplits[part]) + "_" + what + ".npy"); };
    const auto count = data.size();
    write_npy(file("maps"), array_of(pictures_of(data.pool().index_select(0, data.index().view(-1)), walk.side)));
    write_npy(
        file("vertex_weights"),
        array_of(
            costs.index_select(0, data.worlds().reshape(-1)).view({count, walk.side, walk.side}).to(torch::kFloat16)));
    auto masks = torch::zeros({count, walk.cells()}, torch::kUInt8);
    auto marks = masks.accessor<std::uint8_t, 2>();
    const auto outputs = data.labels().outputs.contiguous();
    const auto steps = outputs.accessor<std::int64_t, 2>();
    for (std::int64_t map = 0; map < count; ++map) {
      auto cell = walk.start;
      marks[map][cell] = 1;
      for (std::int64_t step = 0; step < steps.size(1) && steps[map][step] != kNone; ++step) {
        cell = walk.step(cell, steps[map][step]);
        marks[map][cell] = 1;
      }
    }
    write_npy(file("shortest_paths"), array_of(masks.view({count, walk.side, walk.side})));
  }
}

}  // namespace anesi
