// The data of Warcraft path planning: maps, what their cells cost, and a cheapest path over each.
//
// The published files hold three arrays for each of train, val and test:
//   {split}_maps.npy            uint8 [n, 8k, 8k, 3]   pictures
//   {split}_vertex_weights.npy  float16 [n, k, k]      costs: 0.8, 1.2, 5.3, 7.7 or 9.2
//   {split}_shortest_paths.npy  uint8 [n, k, k]        1 on the path
// The same is written from maps that are drawn here (terrain.h). A cheapest path has no two cells beside each other but
// those that follow each other (the ones between could be left out), so the cells alone say how it runs.
#pragma once

#include <filesystem>

#include "anesi/builtin/path_planning.h"
#include "anesi/data/example_arrays.h"

namespace anesi {

struct MapSizes {
  std::int64_t train = 10000, validation = 1000, test = 1000;
};

// Maps drawn by a program; the seed decides them. Without validation maps there is no such split.
SplitArrays draw_maps(const PathPlanning& problem, const MapSizes& sizes, std::uint64_t seed);

// The published files, or files of that format. Throws Error with one line that names the file, the map and what is
// wrong: an array of another type or shape, a cost that is none of the five, a path that is not connected or dearer
// than need be.
SplitArrays read_maps(const PathPlanning& problem, const std::filesystem::path& directory);

// Writes splits in the published format.
void write_maps(const PathPlanning& problem, const SplitArrays& splits, const std::filesystem::path& directory);

}  // namespace anesi
