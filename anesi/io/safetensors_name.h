// A tensor's name in a message.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "anesi/core/error.h"

namespace anesi {

// A name as it can stand in a message of one line, whatever it holds.
inline std::string in_quotes(std::string_view name) {
  constexpr std::size_t kShown = 80;
  const auto shown = std::string(name.substr(0, kShown)) + (name.size() > kShown ? "…" : "");
  return nlohmann::json(shown).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

[[noreturn]] inline void fail_at_tensor(const std::filesystem::path& path, std::string_view tensor,
                                        std::string_view what) {
  throw Error(fmt::format("{}: tensor {}: {}", path.string(), in_quotes(tensor), what));
}

}  // namespace anesi
