#include "anesi/serve/page_files.h"

#include <algorithm>
#include <array>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/io/input_file.h"

namespace anesi::serve {
namespace {

// Empty where a page has no such files.
std::string_view type_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kTypes{
      {{".html", "text/html; charset=utf-8"},
       {".css", "text/css; charset=utf-8"},
       {".js", "text/javascript; charset=utf-8"},
       {".svg", "image/svg+xml"},
       {".png", "image/png"},
       {".txt", "text/plain; charset=utf-8"}}};
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "";
}

}  // namespace

std::optional<PageFile> page_file(std::string_view name, const std::optional<std::filesystem::path>& folder) {
  const auto type = std::string(type_of(name));
  if (type.empty()) return std::nullopt;
  if (folder) {
    try {
      return PageFile{type, read_file(*folder / name, kLargestJson)};
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  const auto files = embedded_files();
  const auto found = std::ranges::find(files, name, &EmbeddedFile::name);
  if (found == files.end()) return std::nullopt;
  return PageFile{type, std::string(found->contents)};
}

}  // namespace anesi::serve
