// Large numbers as people read them: 47,040,016. The same under every locale.
#pragma once

#include <cstdint>
#include <string>

namespace anesi {

inline std::string thousands(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

}  // namespace anesi
