// How deep a text of TOML goes, told without parsing it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace anesi {

constexpr int kDeepestToml = 16;  // parts of a name, or brackets inside one another; ours have three

// The line, from 1, on which a name has more parts (a.b.c has three), or a value stands inside more brackets, than
// kDeepestToml; none where there is no such line. What follows something that is no TOML is not looked at.
std::optional<std::size_t> too_deep_line(std::string_view toml);

}  // namespace anesi
