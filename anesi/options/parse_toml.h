// TOML of a file that may come from anywhere.
#pragma once

// The parser asserts that a table's name begins like one, which "[,]" does not, and then checks it and says on which
// line it does not. So its assertions must neither end the process nor, with NDEBUG, be taken for granted by the
// compiler.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(holds) static_assert(true)
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <string>
#include <string_view>

namespace anesi {

// Throws UsageError, which names `origin` and the line, where the text is no TOML or is not fit to be parsed
// (toml_scan.h).
toml::table parse_toml(std::string_view text, const std::string& origin);

}  // namespace anesi
