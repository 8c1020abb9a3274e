#include "anesi/core/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace anesi {
namespace {

struct Letter {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0 where the text does not start with a letter of UTF-8
};

// The first letter of a text. What is longer than need be, a surrogate or beyond the last letter is none.
Letter first_letter(std::string_view text) {
  const auto byte = [&](std::size_t place) { return static_cast<std::uint8_t>(text[place]); };
  const auto lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >> 5 == 0b110 ? 2 : lead >> 4 == 0b1110 ? 3 : lead >> 3 == 0b11110 ? 4 : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xffU >> (bytes + 1));
  for (std::size_t place = 1; place < bytes; ++place) {
    if (byte(place) >> 6 != 0b10) return {};
    code = code << 6 | (byte(place) & 0x3fU);
  }
  const bool shortest = code >= (bytes == 2 ? 0x80U : bytes == 3 ? 0x800U : 0x10000U);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return shortest && !surrogate && code <= 0x10ffff ? Letter{code, bytes} : Letter{};
}

// Whether a letter moves the cursor, ends a line, or changes in which direction others are read.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x061c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

std::string written_out(std::uint32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\t') return "\\t";
  if (code == '\r') return "\\r";
  return code < 0x100 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
}

}  // namespace

std::string printable(std::string_view text, std::size_t longest) {
  std::string shown;
  shown.reserve(std::min(text.size(), longest));
  while (!text.empty()) {
    const auto letter = first_letter(text);
    const auto bytes = std::max<std::size_t>(1, letter.bytes);
    const auto next = letter.bytes == 0         ? written_out(static_cast<std::uint8_t>(text[0]))
                      : is_control(letter.code) ? written_out(letter.code)
                                                : std::string(text.substr(0, bytes));
    if (next.size() > longest - shown.size()) return shown + "…";
    shown += next;
    text.remove_prefix(bytes);
  }
  return shown;
}

std::string printable_line(std::string_view text) {
  constexpr std::size_t kLongest = 800;
  return printable(text.substr(0, text.find('\n')), kLongest);
}

std::string printable_word(std::string_view word) {
  constexpr std::size_t kLongest = 24;
  return fmt::format("'{}'", printable(word, kLongest));
}

}  // namespace anesi
