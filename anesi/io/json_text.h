// JSON of a file that may come from anywhere.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "anesi/io/fail.h"
#include "anesi/io/thousands.h"

namespace anesi {

// Values in values that are read; nothing of ours has more than five, and each takes fifty times its byte of text.
constexpr int kDeepestJson = 32;

// Throws Error, which says `complaint`, the place and that the file is damaged, where the text is no JSON.
template <typename Json = nlohmann::json>
Json parse_json(std::string_view text, const std::filesystem::path& path, std::string_view complaint = "not JSON") {
  const auto bounded = [&](int depth, typename Json::parse_event_t, Json&) {
    if (depth > kDeepestJson) {
      fail(path, fmt::format("{} that is read: more than {} values inside one another", complaint, kDeepestJson));
    }
    return true;
  };
  try {
    return Json::parse(text, bounded);
  } catch (const typename Json::parse_error& error) {
    fail(path, fmt::format("{} (at byte {}); the file is damaged", complaint, thousands(error.byte)));
  } catch (const typename Json::exception&) {  // a number beyond all
    fail(path, fmt::format("{}; the file is damaged", complaint));
  }
}

}  // namespace anesi
