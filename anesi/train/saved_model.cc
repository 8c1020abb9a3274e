#include "anesi/train/saved_model.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "anesi/core/beliefs.h"
#include "anesi/core/error.h"
#include "anesi/io/files.h"
#include "anesi/io/safetensors.h"
#include "anesi/io/sha256.h"
#include "anesi/pruners/learned_pruning.h"
#include "anesi/train/module_tensors.h"

namespace anesi {
namespace {

constexpr int kFormat = 1;

// What describes a saved model, read and of this version.
class Manifest {
 public:
  explicit Manifest(std::filesystem::path model) : model_(std::move(model)) {
    if (!std::filesystem::exists(path())) {
      throw Error(fmt::format("{}: there is no saved model here; `anesi train` makes one", model_.string()));
    }
    json_ = nlohmann::json::parse(read_file(path()), nullptr, /*allow_exceptions=*/false);
    if (!json_.is_object()) throw damaged("not JSON");
    const auto format = read([](const auto& json) { return json.at("format"); });
    if (format != kFormat) {
      throw Error(fmt::format("{}: format {}; this program reads format {}", path().string(), format.dump(), kFormat));
    }
  }

  std::filesystem::path path() const { return model_ / "manifest.json"; }
  std::filesystem::path weights_path() const { return model_ / "weights.safetensors"; }

  // What `of_json` makes of it; where something is missing or of another kind, the file is damaged.
  template <typename Read>
  std::invoke_result_t<Read, const nlohmann::json&> read(const Read& of_json) const {
    try {
      return of_json(json_);
    } catch (const nlohmann::json::exception& error) {
      throw damaged(error.what());
    } catch (const UsageError& error) {
      throw damaged(error.what());
    }
  }

  // Throws Error where they are not those that it describes.
  NamedTensors weights() const {
    const auto checksum = read([](const auto& json) { return json.at("weights").at("sha256"); });
    auto tensors = read_safetensors(weights_path()).tensors;
    if (sha256_of_file(weights_path()) != checksum) {
      throw Error(
          fmt::format("{}: not the weights that manifest.json describes (checksum differs)", weights_path().string()));
    }
    return tensors;
  }

 private:
  Error damaged(const std::string& what) const {
    return Error(fmt::format("{}: {}; the file is damaged", path().string(), what));
  }

  std::filesystem::path model_;
  nlohmann::json json_;
};

}  // namespace

void save_model(const std::filesystem::path& directory, const Configuration& configuration, const Problem& problem,
                const Perception& perception, const InferenceModel& model, const std::optional<Decision>& decision,
                const Splits* trained_on) {
  auto fresh = directory;
  fresh += ".new";
  try {
    std::filesystem::remove_all(fresh);
    std::filesystem::create_directories(fresh);
    auto tensors = module_tensors(perception, "perception.");
    tensors.merge(model_tensors(model));
    write_safetensors(fresh / "weights.safetensors", tensors, {{"format", "anesi"}});
    nlohmann::ordered_json manifest;
    manifest["format"] = kFormat;
    manifest["task"] = configuration.task_name;
    manifest["preset"] = configuration.preset;
    manifest["architecture"] = configuration.loss == "exact" ? "exact" : configuration.q.architecture;
    manifest["multilinear"] = model.prediction->multilinear();
    manifest["worlds"] = problem.worlds().domains();
    manifest["outputs"] = problem.outputs().domains();
    for (const auto& row : configuration.table().rows()) {
      manifest["options"][row.name] = configuration.table().get(row.name);
    }
    if (decision) manifest["decision"] = {{"slope", decision->slope}, {"offset", decision->offset}};
    if (trained_on != nullptr) {
      manifest["data"] = {{"origin", trained_on->origin}, {"fingerprint", fingerprint(*trained_on)}};
    }
    manifest["weights"] = {{"file", "weights.safetensors"}, {"sha256", sha256_of_file(fresh / "weights.safetensors")}};
    write_file_atomically(fresh / "manifest.json", manifest.dump(2) + "\n");
    replace_directory(fresh, directory);
  } catch (const Error&) {
    std::error_code ignored;
    std::filesystem::remove_all(fresh, ignored);
    throw;
  } catch (const std::filesystem::filesystem_error& error) {
    throw Error(fmt::format("{}: cannot save the model: {}", directory.string(), error.code().message()));
  }
}

std::optional<Decision> fit_decision(const Configuration& configuration, const Problem& problem, Perception& perception,
                                     const InferenceModel& model, const Splits& data) {
  const auto& by = configuration.eval.decide;
  if (by != "likelihood" && by != "gap") return std::nullopt;
  Decision decision{.by = by, .limits = configuration.eval.limits};
  decision.fit(problem, *model.prediction, perception, data.held_out());
  return decision;
}

Splits SavedModel::load_data() const {
  auto data = task.load();
  if (!data_fingerprint.empty() && data_fingerprint != fingerprint(data) && say) {
    say(fmt::format("note: {} are not the data of this run, which was trained on {}; --data chooses others",
                    data.origin, trained_on));
  }
  return data;
}

EvaluateSettings SavedModel::evaluate_settings() const {
  return {.beam = configuration->eval.beam,
          .pruning = pruning.get(),
          .explanations = 10,
          .time_queries = true,
          .decision = decision ? &*decision : nullptr,
          .headline_is_neural = configuration->eval.decide == "neural",
          .q_learned = configuration->loss != "rloo"};
}

torch::Tensor SavedModel::beliefs(const torch::Tensor& inputs) const {
  const torch::NoGradGuard no_gradients;
  auto beliefs = task.perception->forward(inputs);
  check_beliefs(beliefs, task.problem->worlds());
  return beliefs;
}

NamedTensors load_q(const std::filesystem::path& directory, const std::string& architecture) {
  const auto model = std::filesystem::exists(directory / "model") ? directory / "model" : directory;
  const Manifest manifest(model);
  const auto found =
      manifest.read([](const auto& json) { return json.at("architecture").template get<std::string>(); });
  if (found != architecture) {
    throw Error(fmt::format("{}: its q is {}, not {}", directory.string(), found, architecture));
  }
  return manifest.weights();
}

SavedModel load_model(const std::filesystem::path& directory, TaskContext context) {
  const Manifest manifest(directory);
  auto saved = manifest.read([](const nlohmann::json& json) {
    SavedModel described;
    described.configuration = std::make_unique<Configuration>(json.at("task"), json.at("preset"));
    for (const auto& [name, value] : json.at("options").items()) {
      described.configuration->table().set(name, value.get<std::string>());
    }
    if (json.contains("decision")) {
      described.decision = Decision{.by = described.configuration->eval.decide,
                                    .limits = described.configuration->eval.limits,
                                    .slope = json.at("decision").at("slope"),
                                    .offset = json.at("decision").at("offset")};
    }
    if (json.contains("data")) {
      described.trained_on = json.at("data").at("origin");
      described.data_fingerprint = json.at("data").at("fingerprint").get<std::vector<std::int64_t>>();
    }
    return described;
  });
  const auto weights = manifest.weights();
  saved.say = context.say;
  saved.task = saved.configuration->make_task(std::move(context));
  const auto domains = [&](const char* name) {
    return manifest.read([&](const auto& json) { return json.value(name, std::vector<std::int64_t>()); });
  };
  if (domains("worlds") != saved.task.problem->worlds().domains() ||
      domains("outputs") != saved.task.problem->outputs().domains()) {
    throw Error(
        fmt::format("{}: the task's worlds or outputs have changed since; train it again", manifest.path().string()));
  }
  saved.task.perception = refined_perception(saved.configuration->refine, saved.task);
  saved.model = saved.configuration->make_model(*saved.task.problem);
  load_module_tensors(*saved.task.perception, "perception.", weights, manifest.weights_path().string());
  load_model_tensors(saved.model, weights, manifest.weights_path().string());
  saved.task.perception->eval();
  saved.model.eval();
  if (saved.configuration->q.amortized.prunes() || saved.configuration->eval.prune)
    saved.pruner = saved.task.problem->pruner();
  const auto threshold = saved.configuration->eval.learned_threshold;
  if (saved.pruner) {
    saved.pruning = std::make_shared<SymbolicPruning>(*saved.pruner);
  } else if (threshold > 0) {
    saved.pruning = std::make_shared<LearnedPruning>(saved.task.problem->worlds(), threshold);
  }
  return saved;
}

}  // namespace anesi
