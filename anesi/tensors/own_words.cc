#include "anesi/tensors/own_words.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "anesi/core/error.h"
#include "anesi/core/printable.h"
#include "anesi/io/thousands.h"

namespace anesi {
namespace {

constexpr std::string_view kOutOfMemory = "there is not enough memory";
constexpr std::string_view kNeedsLess = "a smaller model, batch or problem needs less";
constexpr std::string_view kAskedFor = "you tried to allocate ";  // torch's words, which it follows with "N bytes."

std::string of_file_system(const std::filesystem::filesystem_error& error) {
  const auto reason = error.code().message();
  if (error.path1().empty()) return reason;
  if (error.path2().empty()) return fmt::format("{}: {}", error.path1().string(), reason);
  return fmt::format("{}: {} (with {})", error.path1().string(), reason, error.path2().string());
}

std::string of_torch(const c10::Error& error) {
  const std::string_view text = error.what_without_backtrace();
  const bool memory = text.find("alloc_cpu") != std::string_view::npos ||
                      text.find("not enough memory") != std::string_view::npos ||
                      text.find("can't allocate memory") != std::string_view::npos;
  if (!memory) return fmt::format("this is a mistake in anesi, please report it; torch says: {}", printable_line(text));
  const auto asked = text.find(kAskedFor);
  if (asked == std::string_view::npos) return fmt::format("{}; {}", kOutOfMemory, kNeedsLess);
  const auto bytes = std::strtoull(text.data() + asked + kAskedFor.size(), nullptr, 10);
  return fmt::format("{}: {} bytes could not be had; {}", kOutOfMemory, thousands(bytes), kNeedsLess);
}

}  // namespace

std::string in_own_words(const std::exception& error) {
  if (dynamic_cast<const Error*>(&error) != nullptr) return printable_line(error.what());
  if (const auto* const of_files = dynamic_cast<const std::filesystem::filesystem_error*>(&error)) {
    return printable_line(of_file_system(*of_files));
  }
  if (const auto* const of_tensors = dynamic_cast<const c10::Error*>(&error)) return of_torch(*of_tensors);
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      dynamic_cast<const std::length_error*>(&error) != nullptr) {
    return fmt::format("{}; {}", kOutOfMemory, kNeedsLess);
  }
  if (dynamic_cast<const nlohmann::json::exception*>(&error) != nullptr) {
    return "a JSON file or answer is not of the form that is expected; it is damaged, or another program wrote it";
  }
  return fmt::format("this is a mistake in anesi, please report it: {}", printable_line(error.what()));
}

}  // namespace anesi
