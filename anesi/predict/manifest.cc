#include "anesi/predict/manifest.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "anesi/io/fail.h"
#include "anesi/io/json_text.h"
#include "anesi/predict/earlier_formats.h"

namespace anesi {
namespace {

using nlohmann::json;
using Path = std::filesystem::path;

constexpr std::int64_t kMostMembers = 1000;

[[noreturn]] void fail_damaged(const Path& path, std::string_view what) {
  fail(path, fmt::format("{}; the file is damaged", what));
}

bool is_whole_number(const json& value) {
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > kLargest);
}

// An object of the file whose members must be there, each of its kind.
class Members {
 public:
  Members(const json& object, std::string name, const Path& path)
      : object_(object), name_(std::move(name)), path_(path) {
    if (!object.is_object()) fail_damaged(path, name_ + " is no object");
  }

  bool has(const char* key) const { return object_.contains(key); }
  Members members(const char* key) const { return {value(key), key, path_}; }
  std::string text(const char* key) const {
    const auto& found = value(key);
    if (!found.is_string()) wrong(key, "a text");
    return found.get<std::string>();
  }
  bool truth(const char* key) const {
    const auto& found = value(key);
    if (!found.is_boolean()) wrong(key, "true or false");
    return found.get<bool>();
  }
  std::int64_t whole_number(const char* key) const {
    const auto& found = value(key);
    if (!is_whole_number(found)) wrong(key, "a whole number");
    return found.get<std::int64_t>();
  }
  double finite_number(const char* key) const {
    const auto& found = value(key);
    if (!found.is_number() || !std::isfinite(found.get<double>())) wrong(key, "a number");
    return found.get<double>();
  }
  std::vector<std::int64_t> whole_numbers(const char* key) const {
    const auto& found = value(key);
    std::vector<std::int64_t> numbers;
    if (!found.is_array()) wrong(key, "a list of whole numbers");
    for (const auto& number : found) {
      if (!is_whole_number(number)) wrong(key, "a list of whole numbers");
      numbers.push_back(number.get<std::int64_t>());
    }
    return numbers;
  }
  std::map<std::string, std::string> texts() const {
    std::map<std::string, std::string> texts;
    for (const auto& [key, value] : object_.items()) {
      if (!value.is_string()) fail_damaged(path_, fmt::format("{} holds something else than texts", name_));
      texts[key] = value.get<std::string>();
    }
    return texts;
  }

 private:
  const json& value(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) fail_damaged(path_, fmt::format("{} has no {}", name_, key));
    return *found;
  }
  [[noreturn]] void wrong(const char* key, std::string_view wanted) const {
    fail_damaged(path_, fmt::format("{} of {} should be {}", key, name_, wanted));
  }

  const json& object_;
  std::string name_;
  const Path& path_;
};

std::int64_t format_of(const json& root, const Path& path) {
  if (!root.is_object() || !root.contains("format") || !is_whole_number(root["format"])) {
    fail_damaged(path, "it has no format number");
  }
  const auto format = root["format"].get<std::int64_t>();
  if (format < 1 || format > kManifestFormat) {
    fail(path, fmt::format("format {}; this program reads formats 1 to {}, so a later one wrote it", format,
                           kManifestFormat));
  }
  return format;
}

}  // namespace

Manifest parse_manifest(std::string_view text, const Path& path) {
  const auto root = parse_json(text, path);
  const auto format = format_of(root, path);
  const Members members(root, "it", path);
  Manifest manifest;
  if (members.has("task")) manifest.task = members.text("task");
  if (members.has("preset")) manifest.preset = members.text("preset");
  manifest.options = members.members("options").texts();
  manifest.architecture = members.text("architecture");
  manifest.worlds = members.whole_numbers("worlds");
  manifest.outputs = members.whole_numbers("outputs");
  manifest.checksum = members.members("weights").text("sha256");
  if (format == 1) {
    try {
      complete_format_1(manifest);
    } catch (const std::logic_error&) {
      fail_damaged(path, "a number is none");
    }
  } else {
    manifest.explains = members.truth("explains");
    manifest.prunes = members.truth("prunes");
    manifest.q_learned = members.truth("q_learned");
    manifest.members = members.whole_number("members");
  }
  if (manifest.members < 1 || manifest.members > kMostMembers) {
    fail_damaged(path, fmt::format("an ensemble of {} members", manifest.members));
  }
  if (members.has("decision")) {
    const auto decision = members.members("decision");
    manifest.decision_fit = {decision.finite_number("slope"), decision.finite_number("offset")};
  }
  if (members.has("found")) {
    const auto found = members.members("found");
    manifest.found_checksum = found.text("sha256");
    manifest.found = found.text("summary");
  }
  if (members.has("data")) {
    const auto data = members.members("data");
    manifest.trained_on = data.text("origin");
    manifest.data_fingerprint = data.whole_numbers("fingerprint");
  }
  return manifest;
}

}  // namespace anesi
