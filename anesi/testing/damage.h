// Damage to text files, for tests that readers survive anything.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "anesi/core/error.h"

namespace anesi::toys {

// One to three of: cut short, a byte changed, a piece lost or doubled, a number that is replaced by an unlikely one.
inline std::string damaged(std::string text, std::mt19937_64& random) {
  constexpr std::array<std::string_view, 9> kNumbers{
      "0", "-1", "1", "7", "2147483648", "-2147483648", "99999999999999999999", "x", ""};
  for (auto times = 1 + random() % 3; times > 0 && !text.empty(); --times) {
    const auto at = random() % text.size();
    const auto length = std::min<std::size_t>(1 + random() % 20, text.size() - at);
    switch (random() % 6) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text[at] = static_cast<char>(random());
        break;
      case 2:
        text[at] = "0123456789 -\n"[random() % 13];
        break;
      case 3:
        text.erase(at, length);
        break;
      case 4:
        text.insert(random() % text.size(), text.substr(at, length));
        break;
      default: {
        const auto begin = std::min(text.find_first_of("0123456789", at), text.size());
        const auto end = std::min(text.find_first_not_of("0123456789", begin), text.size());
        text.replace(begin, end - begin, kNumbers[random() % kNumbers.size()]);
      }
    }
  }
  return text;
}

// Whether reading ends well or with an Error of one line. Anything else it throws goes on.
template <typename Read>
bool reads_or_says_why(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    return std::string_view(error.what()).find('\n') == std::string_view::npos;
  }
  return true;
}

}  // namespace anesi::toys
