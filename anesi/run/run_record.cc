#include "anesi/run/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/io/input_file.h"
#include "anesi/io/json_text.h"

namespace anesi {
namespace {

// "seed-10" as {"seed-", 10}, so that it comes after "seed-9".
std::pair<std::string, std::int64_t> name_and_number(const std::filesystem::path& directory) {
  const auto name = directory.filename().string();
  const auto digits = name.find_last_not_of("0123456789") + 1;
  std::int64_t number = -1;
  std::from_chars(name.data() + digits, name.data() + name.size(), number);
  return {name.substr(0, digits), number};
}

bool holds_run(const std::filesystem::path& directory) {
  std::error_code unknown;  // then there is none that could be read
  return std::filesystem::exists(directory / "config.toml", unknown);
}

}  // namespace

std::string RunRecord::name() const {
  const auto whole = std::filesystem::absolute(directory).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::vector<nlohmann::ordered_json> read_log(const std::filesystem::path& directory) {
  const auto path = directory / "log.jsonl";
  std::vector<nlohmann::ordered_json> rows;
  if (!std::filesystem::exists(path)) return rows;
  const auto text = read_file(path, kLargestText);
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    if (end == std::string::npos) break;  // it is being written, or the disk was full
    rows.push_back(parse_json<nlohmann::ordered_json>(std::string_view(text).substr(begin, end - begin), path,
                                                      fmt::format("line {} is no JSON", rows.size() + 1)));
    if (!rows.back().is_object()) {
      throw Error(fmt::format("{}: line {} is no object; the file is damaged", path.string(), rows.size()));
    }
    begin = end + 1;
  }
  return rows;
}

std::optional<nlohmann::ordered_json> read_result(const std::filesystem::path& directory) {
  const auto path = directory / "result.json";
  if (!std::filesystem::exists(path)) return std::nullopt;
  auto figures = parse_json<nlohmann::ordered_json>(read_file(path, kLargestJson), path);
  if (!figures.is_object()) throw Error(fmt::format("{}: no figures in it; the file is damaged", path.string()));
  return figures;
}

RunRecord read_run_record(const std::filesystem::path& directory) {
  if (!holds_run(directory)) {
    throw UsageError(fmt::format("{}: there is no run here (no config.toml)", directory.string()));
  }
  const auto config = directory / "config.toml";
  return {.directory = directory,
          .configuration = Configuration::from_toml(read_file(config, kLargestSettings), config.string()),
          .log = read_log(directory),
          .result = read_result(directory),
          .has_model = std::filesystem::exists(directory / "model" / "manifest.json")};
}

std::vector<std::filesystem::path> run_directories(const std::vector<std::string>& names) {
  std::vector<std::filesystem::path> runs;
  for (const auto& name : names) {
    if (holds_run(name)) {
      runs.emplace_back(name);
      continue;
    }
    std::vector<std::filesystem::path> inside;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(name, none)) {
      if (holds_run(entry.path())) inside.push_back(entry.path());
    }
    if (inside.empty()) {
      throw UsageError(fmt::format("{}: neither a run (no config.toml) nor a folder of runs", name));
    }
    std::ranges::sort(inside, {}, name_and_number);
    runs.insert(runs.end(), inside.begin(), inside.end());
  }
  return runs;
}

}  // namespace anesi
