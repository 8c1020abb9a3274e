// A word of a file as an error shows it: its beginning in quotes, without what no terminal should be sent.
#pragma once

#include <string>
#include <string_view>

namespace anesi {

inline std::string shown_word(std::string_view word) {
  constexpr std::size_t kShown = 24;
  std::string text = "'";
  for (const char letter : word.substr(0, kShown)) text += letter > ' ' && letter <= '~' ? letter : '?';
  return text + (word.size() > kShown ? "…'" : "'");
}

}  // namespace anesi
