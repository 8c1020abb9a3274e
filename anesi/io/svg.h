// What pictures share.
#pragma once

#include <string>
#include <string_view>

namespace anesi {

// As text, or in the quotes of an attribute, of SVG and HTML.
inline std::string escaped_for_svg(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    switch (letter) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += letter;
    }
  }
  return result;
}

// Letters of UTF-8, not bytes: "¬A" has two.
inline double letters_of(std::string_view text) {
  double letters = 0;
  for (const char byte : text) letters += (static_cast<unsigned>(byte) & 0xC0U) != 0x80U ? 1 : 0;
  return letters;
}

}  // namespace anesi
