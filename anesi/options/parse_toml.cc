#include "anesi/options/parse_toml.h"

#include <fmt/format.h>

#include "anesi/core/error.h"
#include "anesi/core/printable.h"
#include "anesi/options/toml_scan.h"

namespace anesi {
namespace {

// Two ASCII letters in place of each byte beyond ASCII, so that different names stay different.
std::string in_ascii(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string ascii;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (byte < 0x80) {
      ascii += letter;
    } else {
      ascii += {static_cast<char>('a' + byte / 16), static_cast<char>('a' + byte % 16)};
    }
  }
  return ascii;
}

}  // namespace

toml::table parse_toml(std::string_view text, const std::string& origin) {
  if (const auto fault = scan_toml(text)) {
    throw UsageError(fmt::format("{}: line {}: {}", origin, fault->line, fault->what));
  }
  try {
    // Where something is wrong, the parser looks for its end, and letters beyond ASCII on the way are undefined
    // behaviour. In what is right it meets them in texts and comments alone, where it does not look for anything.
    if (const auto ascii = in_ascii(text); ascii != text) static_cast<void>(toml::parse(ascii, origin));
    return toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    throw UsageError(
        fmt::format("{}: line {}: {}", origin, error.source().begin.line, printable_line(error.description())));
  }
}

}  // namespace anesi
