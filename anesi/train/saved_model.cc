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

SavedModel load_model(const std::filesystem::path& directory, TaskContext context) {
  const auto manifest_path = directory / "manifest.json";
  if (!std::filesystem::exists(manifest_path)) {
    throw Error(fmt::format("{}: there is no saved model here; `anesi train` makes one", directory.string()));
  }
  const auto manifest = nlohmann::json::parse(read_file(manifest_path), nullptr, /*allow_exceptions=*/false);
  const auto damaged = [&](const std::string& what) {
    return Error(fmt::format("{}: {}; the file is damaged", manifest_path.string(), what));
  };
  if (!manifest.is_object()) throw damaged("not JSON");
  SavedModel saved;
  std::string checksum;
  try {
    if (manifest.at("format") != kFormat) {
      throw Error(fmt::format("{}: format {}; this program reads format {}", manifest_path.string(),
                              manifest.at("format").dump(), kFormat));
    }
    saved.configuration = std::make_unique<Configuration>(manifest.at("task"), manifest.at("preset"));
    for (const auto& [name, value] : manifest.at("options").items()) {
      saved.configuration->table().set(name, value.get<std::string>());
    }
    checksum = manifest.at("weights").at("sha256");
    if (manifest.contains("decision")) {
      saved.decision = Decision{.by = saved.configuration->eval.decide,
                                .limits = saved.configuration->eval.limits,
                                .slope = manifest.at("decision").at("slope"),
                                .offset = manifest.at("decision").at("offset")};
    }
    if (manifest.contains("data")) {
      saved.trained_on = manifest.at("data").at("origin");
      saved.data_fingerprint = manifest.at("data").at("fingerprint").get<std::vector<std::int64_t>>();
    }
  } catch (const nlohmann::json::exception& error) {
    throw damaged(error.what());
  } catch (const UsageError& error) {
    throw damaged(error.what());
  }
  const auto weights_path = directory / "weights.safetensors";
  const auto weights = read_safetensors(weights_path);
  if (sha256_of_file(weights_path) != checksum) {
    throw Error(
        fmt::format("{}: not the weights that manifest.json describes (checksum differs)", weights_path.string()));
  }
  saved.say = context.say;
  saved.task = saved.configuration->make_task(std::move(context));
  if (manifest.value("worlds", std::vector<std::int64_t>()) != saved.task.problem->worlds().domains() ||
      manifest.value("outputs", std::vector<std::int64_t>()) != saved.task.problem->outputs().domains()) {
    throw Error(
        fmt::format("{}: the task's worlds or outputs have changed since; train it again", manifest_path.string()));
  }
  saved.task.perception = refined_perception(saved.configuration->refine, saved.task);
  saved.model = saved.configuration->make_model(*saved.task.problem);
  load_module_tensors(*saved.task.perception, "perception.", weights.tensors, weights_path.string());
  load_model_tensors(saved.model, weights.tensors, weights_path.string());
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
