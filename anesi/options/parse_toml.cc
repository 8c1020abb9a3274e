#include "anesi/options/parse_toml.h"

#include <fmt/format.h>

#include "anesi/core/error.h"
#include "anesi/core/printable.h"
#include "anesi/options/toml_scan.h"

namespace anesi {

toml::table parse_toml(std::string_view text, const std::string& origin) {
  if (const auto fault = scan_toml(text)) {
    throw UsageError(fmt::format("{}: line {}: {}", origin, fault->line, fault->what));
  }
  try {
    return toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    throw UsageError(
        fmt::format("{}: line {}: {}", origin, error.source().begin.line, printable_line(error.description())));
  }
}

}  // namespace anesi
