// The usual failure of reading or writing: one line that names the file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "anesi/core/error.h"

namespace anesi {

[[noreturn]] inline void fail(const std::filesystem::path& path, std::string_view what) {
  throw Error(path.string() + ": " + std::string(what));
}

}  // namespace anesi
