#include "anesi/tasks/warcraft/map_svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "anesi/data/terrain.h"
#include "anesi/io/png.h"
#include "anesi/tensors/arrays.h"

namespace anesi {
namespace {

constexpr std::int64_t kSide = 40;  // of a cell

// Through the middles of the cells of a path.
std::string line(const GridWalk& walk, const std::vector<std::int64_t>& path) {
  std::string points;
  auto cell = walk.start;
  const auto add = [&] {
    points += fmt::format("{},{} ", cell % walk.side * kSide + kSide / 2, cell / walk.side * kSide + kSide / 2);
  };
  add();
  for (const auto direction : path) {
    if (direction == kNone) break;
    cell = walk.step(cell, direction);
    if (cell == kNone) break;
    add();
  }
  return points;
}

}  // namespace

std::string map_svg(const GridWalk& walk, const Picture& picture) {
  constexpr std::int64_t kCaption = 54;
  const auto whole = walk.side * kSide;
  auto text = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "font-family='sans-serif' font-size='12'>\n<rect width='{0}' height='{1}' fill='white'/>\n",
      whole, whole + kCaption);
  // [cells, 3, 8, 8] -> one picture of [8 side, 8 side, 3]
  const auto tile = picture.inputs.size(-1);
  const auto pixels = ((picture.inputs.view({walk.side, walk.side, 3, tile, tile}) + 1) * 127.5)
                          .round()
                          .clamp(0, 255)
                          .to(torch::kUInt8)
                          .permute({0, 3, 1, 4, 2})
                          .reshape({walk.side * tile, walk.side * tile, 3});
  text += fmt::format(
      "<image width='{0}' height='{0}' style='image-rendering:pixelated' href='data:image/png;base64,{1}'/>\n", whole,
      base64(png_of(array_of(pixels))));
  const auto most = picture.influence.empty() ? 1 : std::max(1e-12, *std::ranges::max_element(picture.influence));
  for (std::int64_t cell = 0; cell < walk.cells(); ++cell) {
    const auto place = static_cast<std::size_t>(cell);
    const auto x = cell % walk.side * kSide, y = cell / walk.side * kSide;
    text += fmt::format("<rect x='{}' y='{}' width='{}' height='{}' fill='#d0f' fill-opacity='{:.2f}'/>\n", x, y, kSide,
                        kSide, picture.influence.empty() ? 0 : 0.6 * picture.influence[place] / most);
    text +=
        fmt::format("<text x='{}' y='{}' fill='white' stroke='black' stroke-width='2' paint-order='stroke'>{}</text>\n",
                    x + 3, y + 13, kTerrainLetters[static_cast<std::size_t>(picture.read[place])]);
  }
  if (!picture.label.empty()) {
    text += fmt::format(
        "<polyline points='{}' fill='none' stroke='white' stroke-width='9' stroke-dasharray='10 6' "
        "stroke-opacity='0.9'/>\n",
        line(walk, picture.label));
  }
  text += fmt::format("<polyline points='{}' fill='none' stroke='#e00' stroke-width='4'/>\n",
                      line(walk, picture.predicted));
  text += fmt::format(
      "<text x='4' y='{}'>red: predicted path; white, dashed: the label's; violet: cells that matter most</text>\n"
      "<text x='4' y='{}'>read as . grass  , ground  T trees  W water  R rocks</text>\n",
      whole + 20, whole + 40);
  return text + "</svg>\n";
}

}  // namespace anesi
