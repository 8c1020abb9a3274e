// Bytes as text, as JSON needs them (RFC 4648, with padding).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace anesi::serve {

std::string to_base64(std::string_view bytes);
// Empty where the text is something else.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace anesi::serve
