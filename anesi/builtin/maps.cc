#include "anesi/builtin/maps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/data/terrain.h"
#include "anesi/io/fail.h"
#include "anesi/io/npy.h"

namespace anesi {
namespace {

constexpr std::int64_t kPaintedAtOnce = 500, kChannels = 3;
constexpr std::int64_t kTileBytes = kChannels * kTilePixels * kTilePixels;

// Copies pictures [n, 8k, 8k, 3] to tiles [n * k * k, 3, 8, 8], or back.
enum class Copy { kToTiles, kToPictures };
void copy_tiles(std::uint8_t* pictures, std::uint8_t* tiles, std::int64_t count, std::int64_t side, Copy copy) {
  const auto pixels = side * kTilePixels;
  for (std::int64_t tile = 0; tile < count * side * side; ++tile) {
    const auto map = tile / (side * side), top = tile / side % side * kTilePixels, left = tile % side * kTilePixels;
    for (std::int64_t place = 0; place < kTileBytes; ++place) {
      const auto channel = place / (kTilePixels * kTilePixels), row = top + place / kTilePixels % kTilePixels,
                 column = left + place % kTilePixels;
      auto& of_picture = pictures[((map * pixels + row) * pixels + column) * kChannels + channel];
      auto& of_tile = tiles[tile * kTileBytes + place];
      if (copy == Copy::kToTiles) {
        of_tile = of_picture;
      } else {
        of_picture = of_tile;
      }
    }
  }
}

Array tiles_of_maps(std::int64_t maps, std::int64_t side) {
  return {NumberType::kUInt8, {maps * side * side, kChannels, kTilePixels, kTilePixels}};
}

ExampleArrays make_split(Array tiles, Points worlds, Points outputs) {
  Points index(worlds.size(), worlds.width());
  std::iota(index.rows().values().begin(), index.rows().values().end(), 0);
  return {.inputs = std::move(tiles),
          .index = array_of(std::move(index)),
          .outputs = array_of(std::move(outputs)),
          .worlds = array_of(std::move(worlds))};
}

// An array of this type and shape; -1 stands for any size.
Array read_array(const std::filesystem::path& path, NumberType type, const std::vector<std::int64_t>& shape) {
  auto array = read_npy(path);
  const bool fits =
      array.type() == type && std::ranges::equal(array.shape(), shape, [](std::int64_t has, std::int64_t wanted) {
        return wanted == -1 || has == wanted;
      });
  if (!fits) {
    fail(path, fmt::format("holds {} where {} [{}] is expected (-1: any number); task.size says how large maps are",
                           array.to_string(), facts_of(type).name, fmt::join(shape, ", ")));
  }
  return array;
}

// Terrains [n, cells] of costs [n, k, k].
Points terrain_of(const Array& costs, const std::filesystem::path& path) {
  const auto side = costs.shape()[1], cells = side * side;
  const auto numbers = doubles_of(costs);
  Points terrain(costs.shape()[0], cells);
  for (std::int64_t place = 0; place < std::ssize(numbers); ++place) {
    const auto cost = numbers[as_size(place)];
    const auto kind = std::ranges::find(kTerrainCosts, std::nearbyint(cost * 10));
    if (kind == kTerrainCosts.end()) {
      fail(path, fmt::format("map {}, row {}, column {}: a cost of {:.2f}; costs are 0.8, 1.2, 5.3, 7.7 and 9.2",
                             place / cells, place / side % side, place % side, cost));
    }
    terrain.rows().data()[place] = kind - kTerrainCosts.begin();
  }
  return terrain;
}

// What the terrains cost, as 16-bit numbers: 0.8 has the bits 0x3a66.
std::uint16_t half_of_cost(std::int64_t terrain) {
  int exponent = 0;
  const double fraction = std::frexp(static_cast<double>(kTerrainCosts[as_size(terrain)]) / 10, &exponent);
  return static_cast<std::uint16_t>((exponent + 14) * 1024 + std::lrint((2 * fraction - 1) * 1024));
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

Points paths_of(const PathPlanning& problem, const Array& masks, const Points& worlds,
                const std::filesystem::path& path) {
  const auto best = apply(problem, worlds);
  Points outputs(best.size(), best.width());
  const auto cells = as_size(worlds.width());
  for (std::int64_t map = 0; map < worlds.size(); ++map) {
    std::string complaint;
    const auto directions =
        follow(problem, masks.values<std::uint8_t>().subspan(as_size(map) * cells, cells), complaint);
    const auto cost = problem.cost(worlds[map], directions), cheapest = problem.cost(worlds[map], best[map]);
    if (complaint.empty() && cost != cheapest) {
      complaint = fmt::format("the path costs {:.1f}, the cheapest {:.1f}", static_cast<double>(cost) / 10,
                              static_cast<double>(cheapest) / 10);
    }
    if (!complaint.empty()) fail(path, fmt::format("map {}: {}", map, complaint));
    std::ranges::copy(directions, outputs[map].begin());
  }
  return outputs;
}

constexpr std::array<const char*, 3> kSplits{"train", "val", "test"};

}  // namespace

SplitArrays draw_maps(const PathPlanning& problem, const MapSizes& sizes, std::uint64_t seed) {
  const auto side = problem.walk().side, cells = side * side;
  const auto draw = [&](std::int64_t count, std::uint64_t part) {
    const auto terrain = grow_terrain(count, side, 3 * seed + part);
    Points worlds(count, cells);
    std::ranges::copy(terrain.values<std::uint8_t>(), worlds.rows().data());
    auto tiles = tiles_of_maps(count, side);
    // Pictures are large: never all of them beside all tiles.
    for (std::int64_t begin = 0; begin < count; begin += kPaintedAtOnce) {
      std::vector<std::int64_t> some(as_size(std::min(kPaintedAtOnce, count - begin)));
      std::iota(some.begin(), some.end(), begin);
      auto pictures = paint_terrain(rows_of(terrain, some), 3 * seed + part, begin);
      copy_tiles(pictures.values<std::uint8_t>().data(),
                 tiles.values<std::uint8_t>().data() + begin * cells * kTileBytes, std::ssize(some), side,
                 Copy::kToTiles);
    }
    auto outputs = apply(problem, worlds);
    return make_split(std::move(tiles), std::move(worlds), std::move(outputs));
  };
  SplitArrays splits{.train = draw(sizes.train, 0), .test = draw(sizes.test, 2), .origin = "maps drawn by a program"};
  if (sizes.validation > 0) splits.validation = draw(sizes.validation, 1);
  return splits;
}

SplitArrays read_maps(const PathPlanning& problem, const std::filesystem::path& directory) {
  const auto side = problem.walk().side, pixels = side * kTilePixels;
  const auto read = [&](const std::string& split) {
    const auto file = [&](const char* what) { return directory / (split + "_" + what + ".npy"); };
    auto pictures = read_array(file("maps"), NumberType::kUInt8, {-1, pixels, pixels, kChannels});
    const auto count = pictures.shape()[0];
    const auto costs = read_array(file("vertex_weights"), NumberType::kFloat16, {count, side, side});
    const auto masks = read_array(file("shortest_paths"), NumberType::kUInt8, {count, side, side});
    auto worlds = terrain_of(costs, file("vertex_weights"));
    auto outputs = paths_of(problem, masks, worlds, file("shortest_paths"));
    auto tiles = tiles_of_maps(count, side);
    copy_tiles(pictures.values<std::uint8_t>().data(), tiles.values<std::uint8_t>().data(), count, side,
               Copy::kToTiles);
    return make_split(std::move(tiles), std::move(worlds), std::move(outputs));
  };
  return {read(kSplits[0]), read(kSplits[1]), read(kSplits[2]), "maps from " + directory.string()};
}

void write_maps(const PathPlanning& problem, const SplitArrays& splits, const std::filesystem::path& directory) {
  const auto& walk = problem.walk();
  const auto side = walk.side, pixels = side * kTilePixels;
  std::filesystem::create_directories(directory);
  const auto write = [&](const ExampleArrays& data, const char* split) {
    const auto file = [&](const char* what) { return directory / (std::string(split) + "_" + what + ".npy"); };
    const auto worlds = points_of(*data.worlds), outputs = points_of(*data.outputs);
    const auto count = worlds.size();
    auto tiles = rows_of(data.inputs, data.index->values<std::int64_t>());
    Array pictures(NumberType::kUInt8, {count, pixels, pixels, kChannels});
    copy_tiles(pictures.values<std::uint8_t>().data(), tiles.values<std::uint8_t>().data(), count, side,
               Copy::kToPictures);
    write_npy(file("maps"), pictures);
    Array costs(NumberType::kFloat16, {count, side, side});
    std::ranges::transform(worlds.values(), static_cast<std::uint16_t*>(costs.data()), half_of_cost);
    write_npy(file("vertex_weights"), costs);
    Array masks(NumberType::kUInt8, {count, side, side});
    for (std::int64_t map = 0; map < count; ++map) {
      std::ranges::copy(crossed_cells(walk, outputs[map]), masks.values<std::uint8_t>().begin() + map * walk.cells());
    }
    write_npy(file("shortest_paths"), masks);
  };
  write(splits.train, kSplits[0]);
  if (splits.validation) write(*splits.validation, kSplits[1]);
  write(splits.test, kSplits[2]);
}

}  // namespace anesi
