#include "anesi/report/input_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "anesi/io/png.h"
#include "anesi/tensors/arrays.h"

namespace anesi {

ReportPicture input_picture(const torch::Tensor& input, std::int64_t columns) {
  const bool grey = input.dim() == 4, coloured = input.dim() == 5 && input.size(2) == 3;
  if ((!grey && !coloured) || input.size(0) != 1 || !input.is_floating_point()) return {};
  constexpr std::int64_t kMostColumns = 15, kBetween = 2, kPaper = 255;
  const auto parts = input.size(1), height = input.size(-2), width = input.size(-1);
  if (columns <= 0) columns = std::min(parts, kMostColumns);
  const auto rows = (parts + columns - 1) / columns;
  // [parts, height, width] or [parts, height, width, 3]
  const auto pixels =
      (127.5 + (grey ? -input[0] : input[0].permute({0, 2, 3, 1})) * 127.5).round().clamp(0, kPaper).to(torch::kUInt8);
  std::vector<std::int64_t> shape{rows * (height + kBetween) - kBetween, columns * (width + kBetween) - kBetween};
  if (coloured) shape.push_back(3);
  auto picture = torch::full(shape, kPaper, torch::kUInt8);
  for (std::int64_t part = 0; part < parts; ++part) {
    const auto top = part / columns * (height + kBetween), left = part % columns * (width + kBetween);
    picture.slice(0, top, top + height).slice(1, left, left + width).copy_(pixels[part]);
  }
  constexpr std::int64_t kMostScaled = 300;  // pixels, beyond which a picture is large enough
  const std::int64_t scale = picture.size(1) * 3 <= 2 * kMostScaled ? 3 : picture.size(1) <= kMostScaled ? 2 : 1;
  return {"data:image/png;base64," + base64(png_of(array_of(picture))), scale * picture.size(1),
          scale * picture.size(0)};
}

std::string svg_uri(std::string_view svg) {
  constexpr std::string_view kWrittenOut = "%#<>\"'&";
  std::string text = "data:image/svg+xml;charset=utf-8,";
  for (const char letter : svg) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < ' ' || kWrittenOut.find(letter) != std::string_view::npos) {
      text += fmt::format("%{:02X}", byte);
    } else {
      text += letter;
    }
  }
  return text;
}

}  // namespace anesi
