#include "anesi/tasks/visual_sudoku/puzzle_svg.h"

#include <fmt/format.h>

#include <cmath>

#include "anesi/io/png.h"
#include "anesi/tensors/arrays.h"

namespace anesi {

std::string puzzle_svg(const Sudoku& sudoku, const torch::Tensor& cells, Values read, Values explained) {
  constexpr std::int64_t kSide = 64, kEdge = 16;  // of a cell, of the margin
  const auto size = sudoku.size(), whole = size * kSide;
  const auto block = block_side(size);
  std::vector<bool> conflicts(read.size(), false);
  for (const auto& [first, second] : sudoku.pairs()) {
    const auto one = static_cast<std::size_t>(first), other = static_cast<std::size_t>(second);
    if (read[one] == read[other]) conflicts[one] = conflicts[other] = true;
  }
  auto text = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {0}' width='{0}' height='{0}' "
      "font-family='sans-serif' font-size='15'>\n<rect width='{0}' height='{0}' fill='white'/>\n",
      whole + 2 * kEdge);
  // White on black becomes black on white.
  const auto pixels = (127.5 - cells * 127.5).round().clamp(0, 255).to(torch::kUInt8);
  for (std::int64_t cell = 0; cell < size * size; ++cell) {
    const auto place = static_cast<std::size_t>(cell);
    const auto x = kEdge + cell % size * kSide, y = kEdge + cell / size * kSide;
    text += fmt::format("<image x='{}' y='{}' width='{}' height='{}' href='data:image/png;base64,{}'/>\n", x + 2, y + 2,
                        kSide - 18, kSide - 18, base64(png_of(array_of(pixels[cell]))));
    if (conflicts[place]) {
      text += fmt::format("<rect x='{}' y='{}' width='{}' height='{}' fill='#d33' fill-opacity='0.22'/>\n", x, y, kSide,
                          kSide);
    }
    text += fmt::format("<text x='{}' y='{}' fill='{}'>{}</text>\n", x + kSide - 14, y + kSide - 6,
                        conflicts[place] ? "#b00" : "#555", read[place]);
    if (!explained.empty() && explained[place] != read[place]) {
      text += fmt::format(
          "<rect x='{}' y='{}' width='{}' height='{}' fill='none' stroke='#080' stroke-width='3'/>\n"
          "<text x='{}' y='{}' fill='#080' font-weight='bold'>{}</text>\n",
          x + 2, y + 2, kSide - 4, kSide - 4, x + 6, y + kSide - 6, explained[place]);
    }
  }
  for (std::int64_t line = 0; line <= size; ++line) {
    const auto width = line % block == 0 ? 3 : 1;
    const auto at = kEdge + line * kSide;
    text += fmt::format("<path d='M{0} {1}V{2}M{1} {0}H{2}' stroke='#333' stroke-width='{3}' fill='none'/>\n", at,
                        kEdge, kEdge + whole, width);
  }
  return text + "</svg>\n";
}

}  // namespace anesi
