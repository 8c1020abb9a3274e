#include "anesi/serve/base64.h"

#include <array>
#include <cstdint>

namespace anesi::serve {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> values_of_letters() {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t value = 0; value < kLetters.size(); ++value) {
    values[static_cast<unsigned char>(kLetters[value])] = static_cast<std::int8_t>(value);
  }
  return values;
}

constexpr auto kValues = values_of_letters();

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t byte = 0; byte < 3; ++byte) {
      bits = bits << 8 | (byte < group.size() ? static_cast<unsigned char>(group[byte]) : 0U);
    }
    for (std::size_t letter = 0; letter < 4; ++letter) {
      text += letter <= group.size() ? kLetters[bits >> (18 - 6 * letter) & 63U] : '=';
    }
  }
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const auto padding = text.ends_with("==") ? 2U : text.ends_with('=') ? 1U : 0U;
  const auto letters = text.substr(0, text.size() - padding);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const auto letter : letters) {
    const auto value = kValues[static_cast<unsigned char>(letter)];
    if (value < 0) return std::nullopt;
    bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xffffffU;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes += static_cast<char>(bits >> held & 0xffU);
    }
  }
  if ((bits & ((1U << held) - 1)) != 0) return std::nullopt;  // bits that no byte has
  return bytes;
}

}  // namespace anesi::serve
