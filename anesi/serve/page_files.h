// The files of the page: those of anesi/serve/page/, which the build puts into the program.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace anesi::serve {

struct EmbeddedFile {
  std::string_view name, contents;
};

// All of them (the build writes this function).
std::span<const EmbeddedFile> embedded_files();

struct PageFile {
  std::string type, contents;
};

// By its exact name. For those who change the page: from a folder instead, read anew each time.
std::optional<PageFile> page_file(std::string_view name, const std::optional<std::filesystem::path>& folder = {});

}  // namespace anesi::serve
