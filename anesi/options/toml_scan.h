// What the parser of TOML must not be given, found without parsing.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace anesi {

constexpr int kDeepestToml = 16;  // parts of a name, or brackets inside one another; ours have three

struct TomlFault {
  std::size_t line = 1;
  std::string_view what;
};

// The first name that has more parts (a.b.c has three), or value that stands inside more brackets, than kDeepestToml:
// parsing and releasing tables call themselves once for each level, and the stack is finite. Or the first letter beyond
// ASCII where the parser looks for spaces, which is undefined behaviour in its version 3.3: outside of quotes and
// comments, where TOML allows none, and behind a backslash in a long string; or a quote where no text can begin. None
// where there are no such things; what follows something that is no TOML is not looked at.
std::optional<TomlFault> scan_toml(std::string_view toml);

}  // namespace anesi
