// TOML of a file that may come from anywhere.
#pragma once

#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <string>
#include <string_view>

namespace anesi {

// Throws UsageError, which names `origin` and the line, where the text is no TOML or its keys and values stand too deep
// inside one another: parsing and releasing tables call themselves once for each level, and the stack is finite.
toml::table parse_toml(std::string_view text, const std::string& origin);

}  // namespace anesi
