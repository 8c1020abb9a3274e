#include "anesi/options/parse_toml.h"

#include <fmt/format.h>

#include "anesi/core/error.h"
#include "anesi/options/toml_depth.h"

namespace anesi {
namespace {

// The library's descriptions go over several lines, and quote the file.
std::string on_one_line(std::string_view text) {
  constexpr std::size_t kShown = 200;
  std::string line;
  for (const char letter : text.substr(0, kShown)) line += letter >= ' ' && letter <= '~' ? letter : ' ';
  return line;
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& origin) {
  if (const auto line = too_deep_line(text)) {
    throw UsageError(fmt::format("{}: line {}: names or values stand more than {} deep inside one another", origin,
                                 *line, kDeepestToml));
  }
  try {
    return toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    throw UsageError(
        fmt::format("{}: line {}: {}", origin, error.source().begin.line, on_one_line(error.description())));
  }
}

}  // namespace anesi
