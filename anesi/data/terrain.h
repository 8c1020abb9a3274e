// Maps drawn by a program, after those of the game Warcraft II that path planners are compared on.
//
// Terrain grows in smooth blobs: grass, ground, trees, water and rocks, in the shares of the published maps and as
// uneven from map to map. A map is then painted with 8x8 pixels a cell. Borders between terrains wind through the cells
// on both sides and are blended, so that a cell shows something of its neighbours, as the game's tiles do.
#pragma once

#include <array>
#include <cstdint>

#include "anesi/core/array.h"

namespace anesi {

inline constexpr std::int64_t kTerrains = 5;
inline constexpr std::int64_t kTilePixels = 8;
// Grass, ground, trees, water, rocks: what it costs to cross a cell, in tenths.
inline constexpr std::array<std::uint8_t, kTerrains> kTerrainCosts{8, 12, 53, 77, 92};
inline constexpr std::array<char, kTerrains> kTerrainLetters{'.', ',', 'T', 'W', 'R'};

// Terrains of so many maps, uint8 [count, side, side]. The same seed gives the same maps, however many threads work on
// it; a larger count begins with the maps of a smaller one.
Array grow_terrain(std::int64_t count, std::int64_t side, std::uint64_t seed);

// Pictures of them, uint8 [count, 8 side, 8 side, 3]; `first` is the number of the first where they are some of many.
Array paint_terrain(const Array& terrain, std::uint64_t seed, std::int64_t first = 0);

}  // namespace anesi
