#include "anesi/run/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/io/input_file.h"
#include "anesi/io/safetensors.h"
#include "anesi/run/option_changes.h"
#include "anesi/run/run_record.h"
#include "anesi/tensors/arrays.h"

namespace anesi {
namespace {

// The logs, and under which name a checkpoint remembers how long each of them was.
constexpr const char* kCheckpoint = "checkpoint";

constexpr std::array<std::pair<const char*, const char*>, 2> kLogs = {{{"log.jsonl", "log"}, {"log.csv", "table"}}};

nlohmann::json number_or_null(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); }

}  // namespace

Run Run::create(const std::filesystem::path& directory, const Configuration& configuration) {
  make_directories(directory);
  DirectoryLock lock(directory);
  if (std::filesystem::exists(directory / "config.toml")) {
    throw Error(fmt::format("{}: holds a run already; go on with it by --resume {} or choose another --out",
                            directory.string(), directory.string()));
  }
  remove_leftovers_of(directory / "config.toml");  // of a run that was killed as it began
  write_file_atomically(directory / "config.toml", configuration.table().to_toml());
  return Run(directory, std::move(lock));
}

Run Run::open(const std::filesystem::path& directory) {
  if (!std::filesystem::exists(directory / "config.toml")) {
    throw UsageError(fmt::format("{}: there is no run here (no config.toml)", directory.string()));
  }
  DirectoryLock lock(directory);
  remove_leftovers(directory);
  remove_leftovers(directory / kCheckpoint);
  return Run(directory, std::move(lock));
}

std::unique_ptr<Configuration> Run::configuration() const { return run_configuration(directory_); }

std::unique_ptr<Configuration> run_configuration(const std::filesystem::path& directory) {
  const auto path = directory / "config.toml";
  return Configuration::from_toml(read_file(path, kLargestSettings), path.string());
}

void Run::save_found(const Training& training) const {
  if (const auto& found = training.found()) {
    write_safetensors(directory_ / "found.safetensors", found->facts,
                      {{"format", "anesi found"}, {"architecture", found->architecture}, {"reason", found->reason}});
  }
}

std::optional<Training::Found> Run::found() const { return found_in_run(directory_); }

std::optional<Training::Found> found_in_run(const std::filesystem::path& directory) {
  const auto path = directory / "found.safetensors";
  if (!std::filesystem::exists(path)) return std::nullopt;
  auto [arrays, words] = read_safetensors(path);
  return Training::Found{std::move(arrays), words["architecture"], words["reason"]};
}

void Run::save_checkpoint(const Training& training) const {
  const auto folder = directory_ / kCheckpoint;
  make_directories(folder);
  auto state = training.trainer().state();
  state["data"] = training.data_fingerprint();
  const nlohmann::json options = training.configuration().values();
  std::map<std::string, std::string> words{
      {"format", "anesi checkpoint"},
      {"options", options.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)}};
  for (const auto& [file, name] : kLogs) words[name] = std::to_string(length_of_file(directory_ / file));
  write_safetensors(folder / "state.safetensors", arrays_of(state), words);
}

void Run::check_edits(const Configuration& configuration, const Say& say) const {
  const auto path = directory_ / kCheckpoint / "state.safetensors";
  if (!std::filesystem::exists(path)) return;
  const auto words = read_safetensors(path).metadata;
  const auto told = words.find("options");
  if (told == words.end()) return;  // of an earlier version, which did not say
  std::map<std::string, std::string> before;
  const auto options = nlohmann::json::parse(told->second, nullptr, /*allow_exceptions=*/false);
  if (!options.is_object()) throw Error(fmt::format("{}: its options are no JSON object", path.string()));
  for (const auto& [name, value] : options.items()) before[name] = value.is_string() ? value.get<std::string>() : "";
  auto changes = option_changes(before, configuration);
  const auto [refused, end] = std::ranges::stable_partition(changes, &OptionChange::allowed);
  const auto config = (directory_ / "config.toml").string();
  if (refused != end) {
    throw Error(
        fmt::format("{}: edited since the run stopped: {}; what is learned so far is not of that; put it back, or "
                    "train anew with another --out",
                    config, to_string({refused, end})));
  }
  if (!changes.empty() && say) say(fmt::format("note: {} was edited: {}", config, to_string(changes)));
}

void Run::cut_logs(const std::map<std::string, std::string>& words) const {
  for (const auto& [file, name] : kLogs) {
    const auto path = directory_ / file;
    const auto told = words.find(name);
    if (told == words.end()) continue;  // an earlier version wrote the checkpoint
    std::uintmax_t bytes = 0;
    const auto [end, failure] = std::from_chars(told->second.data(), told->second.data() + told->second.size(), bytes);
    if (failure != std::errc() || end != told->second.data() + told->second.size()) {
      throw Error(fmt::format("its {} is no length", name));
    }
    if (length_of_file(path) <= bytes) continue;
    std::error_code reason;
    std::filesystem::resize_file(path, bytes, reason);
    if (reason) throw Error(fmt::format("{}: cannot write: {}", path.string(), reason.message()));
  }
}

namespace {

// Puts a checkpoint's state into the training, and returns its words.
std::map<std::string, std::string> take_checkpoint(const std::filesystem::path& path, Training& training) {
  try {
    auto [arrays, words] = read_safetensors(path);
    auto state = tensors_of(arrays);
    const auto data = state.extract("data");
    if (data.empty()) throw Error("checkpoint: what tells its data apart is missing");
    if (!torch::equal(data.mapped(), training.data_fingerprint())) {
      throw Error("the data are not those that the run was started on; give the same --data");
    }
    training.trainer().load_state(state);
    return words;
  } catch (const Error& error) {
    const std::string what = error.what();
    throw Error(what.find(path.string()) != std::string::npos ? what : fmt::format("{}: {}", path.string(), what));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    throw Error(
        fmt::format("{}: a tensor in it is missing or has another type or shape than this configuration saves; "
                    "the file is damaged, or another version wrote it",
                    path.string()));
  }
}

}  // namespace

bool Run::load_checkpoint(Training& training) const {
  const auto path = directory_ / kCheckpoint / "state.safetensors";
  if (!std::filesystem::exists(path)) {
    cut_logs({{"log", "0"}, {"table", "0"}});
    return false;
  }
  const auto words = take_checkpoint(path, training);
  try {
    cut_logs(words);
  } catch (const Error& error) {
    const std::string what = error.what();
    throw Error(what.find(directory_.string()) != std::string::npos ? what
                                                                    : fmt::format("{}: {}", path.string(), what));
  }
  return true;
}

bool load_checkpoint_of(const std::filesystem::path& directory, Training& training) {
  const auto path = directory / kCheckpoint / "state.safetensors";
  if (!std::filesystem::exists(path)) return false;
  take_checkpoint(path, training);
  return true;
}

void Run::save_result(const nlohmann::ordered_json& figures) const {
  write_file_atomically(directory_ / "result.json", figures.dump(2) + "\n");
}

std::optional<nlohmann::ordered_json> Run::result() const { return read_result(directory_); }

void Run::log(const Progress& progress, const std::optional<Evaluation>& evaluation) const {
  nlohmann::ordered_json line;
  line["phase"] = progress.phase;
  line["epoch"] = progress.epoch;
  line["step"] = progress.step;
  line["seconds"] = progress.seconds;
  line["loss"] = number_or_null(progress.loss);
  line["q_loss"] = number_or_null(progress.q_loss);
  line["restarts"] = progress.restarts;
  line["grown"] = progress.grown;
  line["split"] = progress.split;
  const auto figures = to_json(evaluation.value_or(Evaluation{}));
  for (const auto& [key, value] : figures.items()) {
    if (key != "ms_per_query") line[key] = evaluation ? value : nlohmann::ordered_json();
  }
  std::vector<std::string> names, cells;
  for (const auto& [key, value] : line.items()) {
    names.push_back(key);
    cells.push_back(value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump());
  }
  append_to_file(directory_ / "log.jsonl", line.dump() + "\n");
  const auto table = directory_ / "log.csv";
  const bool begun = length_of_file(table) > 0;
  append_to_file(table,
                 fmt::format("{}{}\n", begun ? "" : fmt::format("{}\n", fmt::join(names, ",")), fmt::join(cells, ",")));
}

std::filesystem::path fresh_run_directory(const std::string& name) {
  const std::filesystem::path runs("runs");
  std::error_code failure;
  make_directories(runs);
  for (int number = 1; !failure; ++number) {
    auto directory = runs / fmt::format("{}-{}", name, number);
    if (std::filesystem::create_directory(directory, failure)) return directory;
  }
  throw Error(
      fmt::format("{}: cannot make a directory in it: {}; --out chooses another", runs.string(), failure.message()));
}

nlohmann::ordered_json to_json(const Evaluation& evaluation) {
  nlohmann::ordered_json json;
  json["examples"] = evaluation.examples;
  json["symbolic"] = evaluation.symbolic;
  json["neural"] = evaluation.neural;
  json["per_variable"] = number_or_null(evaluation.per_variable);
  const auto optional = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
  };
  json["explanation"] = optional(evaluation.explanation);
  json["satisfied"] = optional(evaluation.satisfied);
  json["nll"] = number_or_null(evaluation.nll);
  json["ece"] = evaluation.ece;
  const auto structured = [](const std::optional<Evaluation::Structured>& score) -> nlohmann::ordered_json {
    if (!score) return {};
    return {
        {"exact_match", score->exact_match}, {"per_variable", score->per_variable}, {"satisfied", score->satisfied}};
  };
  json["believed"] = structured(evaluation.believed);
  json["constrained"] = structured(evaluation.constrained);
  json["decided"] = optional(evaluation.decided);
  json["ms_per_query"] = optional(evaluation.ms_per_query);
  json["accuracy"] = evaluation.accuracy;
  return json;
}

}  // namespace anesi
