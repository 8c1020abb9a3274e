// Pictures of maps, labelled with the cheapest path over them (section 4.3 of the paper).
#pragma once

#include <array>
#include <string_view>

#include "anesi/builtin/builtin.h"

namespace anesi {

enum class MapReader { kCells, kMap };
constexpr std::array<std::string_view, 2> names_of(MapReader) { return {"cells", "map"}; }

struct WarcraftOptions {
  static constexpr const char* kName = "warcraft";
  static constexpr const char* kSummary = "the cheapest path over a map, from pictures of maps with their paths";

  std::int64_t size = 12, maps = 10000, tests = 1000;
  MapReader reader = MapReader::kCells;

  void describe(OptionTable& table) {
    table.add("size", size, {2, 100}, "cells of a side (the paper's maps have 12 and 30)");
    table.add("reader", reader,
              "what perception looks at: each cell, or the whole map at once (a baseline without knowledge)");
    table.add("maps", maps, {1, 10000000}, "maps that are drawn to learn from");
    table.add("tests", tests, {1, 10000000},
              "maps that are drawn to test on; with train.validation=true as many more to validate on");
  }
};

// Its problem is a PathPlanning if cells are read; else the identity of a mark a cell, whether the path crosses it.
Builtin warcraft(const WarcraftOptions& options, const TaskContext& context);

}  // namespace anesi
