#include "anesi/io/without_folders.h"

#include <cctype>
#include <string_view>
#include <utility>

namespace anesi {
namespace {

bool is_space(char letter) { return std::isspace(static_cast<unsigned char>(letter)) != 0; }

// Whether a name follows the slash at this place.
bool names_something(std::string_view text, std::size_t slash) {
  return slash + 1 < text.size() && text[slash + 1] != '/' && !is_space(text[slash + 1]);
}

bool begins_path(std::string_view text, std::size_t at) {
  constexpr std::string_view kMayStandBefore = "\"'`([{=,:;|";
  if (text[at] != '/' || !names_something(text, at)) return false;
  return at == 0 || is_space(text[at - 1]) || kMayStandBefore.find(text[at - 1]) != std::string_view::npos;
}

std::size_t end_of_path(std::string_view text, std::size_t begin) {
  const auto before = begin > 0 ? text[begin - 1] : ' ';
  const bool quoted = before == '"' || before == '\'' || before == '`';
  for (auto end = begin + 1; end < text.size(); ++end) {
    if (text[end] == '\n' || (quoted && text[end] == before)) return end;
    if (text.substr(end).starts_with(": ") || begins_path(text, end)) return end;
  }
  return text.size();
}

}  // namespace

std::string without_folders(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (!begins_path(text, at)) {
      result += text[at++];
      continue;
    }
    const auto end = end_of_path(text, at);
    const auto path = std::string_view(text).substr(at, end - at);
    auto last = path.rfind('/');
    while (!names_something(path, last)) last = path.rfind('/', last - 1);  // the first one does
    result += path.substr(last + 1);
    at = end;
  }
  return result;
}

nlohmann::ordered_json without_folders(nlohmann::ordered_json json) {
  if (json.is_string()) return without_folders(json.get<std::string>());
  if (json.is_structured()) {
    for (auto& each : json) each = without_folders(std::move(each));
  }
  return json;
}

std::string origin_without_folder(const std::string& origin) {
  const auto from = origin.find(" from ");
  if (from == std::string::npos) return without_folders(origin);
  const auto rest = origin.rfind(", in ");
  const auto end = rest == std::string::npos || rest < from ? origin.size() : rest;
  const bool folder = origin.substr(from, end - from).find('/') != std::string::npos;
  return without_folders(folder ? origin.substr(0, from) + origin.substr(end) : origin);
}

}  // namespace anesi
