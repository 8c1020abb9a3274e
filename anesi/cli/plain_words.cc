#include "anesi/cli/plain_words.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <new>
#include <string_view>

#include "anesi/core/error.h"
#include "anesi/io/thousands.h"

namespace anesi::cli {
namespace {

constexpr const char* kNeedsLess = "smaller batches (train.batch, q.samples) need less";

// libtorch's words, which it follows with "N bytes."
constexpr std::string_view kAskedFor = "you tried to allocate ";

}  // namespace

std::string in_plain_words(const std::exception& error) {
  const std::string what = error.what();
  if (dynamic_cast<const Error*>(&error) != nullptr) return what;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return fmt::format("there is not enough memory; {}", kNeedsLess);
  }
  if (const auto* const file = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return fmt::format("{}: {}", file->path1().string(), file->code().message());
  }
  if (const auto place = what.find(kAskedFor); place != std::string::npos) {
    const auto bytes = std::strtoull(what.c_str() + place + kAskedFor.size(), nullptr, 10);
    return fmt::format("there is not enough memory: {} bytes could not be had; {}", thousands(bytes), kNeedsLess);
  }
  return what;
}

}  // namespace anesi::cli
