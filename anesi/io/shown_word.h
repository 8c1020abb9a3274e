// What came from a file, as an error shows it.
#pragma once

#include <string>
#include <string_view>

namespace anesi {

// A word: its beginning in quotes, without what no terminal should be sent.
inline std::string shown_word(std::string_view word) {
  constexpr std::size_t kShown = 24;
  std::string text = "'";
  for (const char letter : word.substr(0, kShown)) text += letter > ' ' && letter <= '~' ? letter : '?';
  return text + (word.size() > kShown ? "…'" : "'");
}

// A text as one line: its beginning, up to the end of its first line, without what no terminal should be sent.
inline std::string shown_line(std::string_view text) {
  constexpr std::size_t kShown = 500;
  text = text.substr(0, text.find('\n'));
  std::string line;
  for (const char letter : text.substr(0, kShown)) {
    line += static_cast<unsigned char>(letter) >= ' ' && letter != '\x7f' ? letter : '?';
  }
  return line + (text.size() > kShown ? "…" : "");
}

}  // namespace anesi
