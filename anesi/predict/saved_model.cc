#include "anesi/predict/saved_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "anesi/core/error.h"
#include "anesi/core/pruner.h"
#include "anesi/exact/found_facts.h"
#include "anesi/io/fail.h"
#include "anesi/io/files.h"
#include "anesi/io/input_file.h"
#include "anesi/io/safetensors.h"
#include "anesi/io/sha256.h"
#include "anesi/models/architecture.h"
#include "anesi/models/exact_model.h"
#include "anesi/models/module_tensors.h"
#include "anesi/perception/ensemble.h"
#include "anesi/tensors/arrays.h"

namespace anesi {
namespace {

namespace fs = std::filesystem;

fs::path manifest_path(const fs::path& model) { return model / "manifest.json"; }
fs::path weights_path(const fs::path& model) { return model / "weights.safetensors"; }
fs::path found_path(const fs::path& model) { return model / "found.safetensors"; }

// A table of what prediction needs, filled with the values that there are for it.
class InferenceOptions {
 public:
  explicit InferenceOptions(const SavedModel& saved) {
    table_.add_group("eval", predictor);
    table_.add_group("exact", exact);
    for (const auto& [name, value] : saved.options) {
      if (table_.contains(name)) table_.set(name, value);
    }
  }

  PredictorOptions predictor;
  ExactOptions exact;

 private:
  OptionTable table_;
};

InferenceModel make_saved_q(const SavedModel& saved, const InferenceOptions& options, const Problem& problem) {
  if (saved.architecture == kExactArchitecture) return make_exact_model(problem, options.exact);
  std::vector<std::string> settings;
  const auto chosen = architectures().find(saved.architecture).choose();
  OptionTable table;
  table.add_group(saved.architecture, *chosen);
  for (const auto& [name, value] : saved.options) {
    if (table.contains(name)) settings.push_back(name + "=" + value);
  }
  return make_model(problem, saved.architecture, saved.explains, settings);
}

std::pair<std::shared_ptr<Perception>, InferenceModel> build_within_limit(const SavedModel& saved,
                                                                          const InferenceOptions& options,
                                                                          const Problem& problem,
                                                                          const MakePerception& make_perception) {
  const auto limit = limit_by_weights(saved);
  auto perception = make_ensemble(make_perception, saved.members);
  return {std::move(perception), make_saved_q(saved, options, problem)};
}

NamedTensors read_weights(const SavedModel& saved) {
  const auto path = weights_path(saved.directory);
  auto tensors = tensors_of(read_safetensors(path).arrays);
  if (sha256_of_file(path) != saved.checksum) {
    throw Error(fmt::format("{}: not the weights that manifest.json describes (checksum differs)", path.string()));
  }
  return tensors;
}

void freeze(torch::nn::Module& module) {
  for (auto& parameter : module.parameters()) parameter.requires_grad_(false);
}

}  // namespace

NamedArrays read_found_facts(const SavedModel& saved) {
  if (saved.found_checksum.empty()) return {};
  const auto path = found_path(saved.directory);
  auto arrays = read_safetensors(path).arrays;
  if (sha256_of_file(path) != saved.found_checksum) {
    throw Error(fmt::format("{}: not the facts that manifest.json describes (checksum differs)", path.string()));
  }
  return arrays;
}

SavedModel read_saved_model(const fs::path& directory) {
  const auto model = fs::exists(manifest_path(directory)) ? directory : directory / "model";
  if (!fs::exists(manifest_path(model))) {
    throw Error(fmt::format("{}: there is no saved model here; `anesi train` makes one", directory.string()));
  }
  const auto path = manifest_path(model);
  SavedModel saved{parse_manifest(read_file(path, kLargestJson), path), model, std::nullopt};
  if (!saved.decision_fit) return saved;
  try {
    const InferenceOptions options(saved);
    saved.decision = Decision{.by = options.predictor.scored_by().value_or(ScoredBy::kLikelihood),
                              .limits = options.predictor.limits,
                              .slope = saved.decision_fit->slope,
                              .offset = saved.decision_fit->offset};
  } catch (const UsageError& error) {
    fail(path, fmt::format("{}; the file is damaged", error.what()));
  }
  return saved;
}

AllocationLimit limit_by_weights(const SavedModel& saved) {
  constexpr std::int64_t kWithoutWeights = std::int64_t{256} << 20, kTimesWeights = 4;
  std::error_code none;
  const auto path = weights_path(saved.directory);
  const auto bytes = std::min<std::uintmax_t>(fs::file_size(path, none), kLargestArrays);
  const auto most = kWithoutWeights + kTimesWeights * static_cast<std::int64_t>(none ? 0 : bytes);
  return {
      saved.architecture == kExactArchitecture ? std::numeric_limits<std::int64_t>::max() : most,
      fmt::format("{}: the model that its options ask for is far larger than {}; it belongs to another configuration",
                  manifest_path(saved.directory).string(), path.filename().string())};
}

Predictor load_predictor(const fs::path& directory, std::shared_ptr<const Problem> problem,
                         const MakePerception& make_perception) {
  return load_predictor(read_saved_model(directory), std::move(problem), make_perception);
}

Predictor load_predictor(const SavedModel& saved, std::shared_ptr<const Problem> problem,
                         const MakePerception& make_perception) {
  if (saved.worlds != problem->worlds().domains() || saved.outputs != problem->outputs().domains()) {
    throw Error(fmt::format(
        "{}: a model of another problem: it has {} world and {} output variables, this problem {} and {}, or their "
        "domains differ",
        manifest_path(saved.directory).string(), saved.worlds.size(), saved.outputs.size(),
        problem->worlds().variables(), problem->outputs().variables()));
  }
  const InferenceOptions options(saved);
  if (!saved.found_checksum.empty()) {
    problem = with_found_facts(std::move(problem), read_found_facts(saved), saved.found);
  }
  auto [perception, model] = build_within_limit(saved, options, *problem, make_perception);
  Predictor::Parts parts{.problem = problem,
                         .perception = std::move(perception),
                         .model = std::move(model),
                         .options = options.predictor,
                         .decision = saved.decision,
                         .prunes = prunes_by(*problem, options.predictor, saved.prunes),
                         .q_learned = saved.q_learned};
  const auto origin = weights_path(saved.directory).string();
  const auto shapes = read_safetensors_shapes(weights_path(saved.directory));
  check_module_shapes(*parts.perception, "perception.", shapes, origin);
  check_model_shapes(parts.model, shapes, origin);
  const auto weights = read_weights(saved);
  load_module_tensors(*parts.perception, "perception.", weights, origin);
  load_model_tensors(parts.model, weights, origin);
  freeze(*parts.perception);
  freeze(*parts.model.prediction);
  if (parts.model.explanation) freeze(*parts.model.explanation);
  return Predictor(std::move(parts));
}

void save_model(const fs::path& target, const Predictor& predictor, const TrainingDetails& details) {
  const auto directory = target.has_filename() ? target : target.parent_path();  // "alarm/" is "alarm"
  const auto& model = predictor.model();
  if (fs::exists(directory) &&
      !(fs::is_directory(directory) && (fs::is_empty(directory) || fs::exists(manifest_path(directory))))) {
    throw Error(
        fmt::format("{}: there is something else than a saved model; choose another place", directory.string()));
  }
  if (model.architecture.empty()) {
    throw Error(fmt::format(
        "{}: q was put together by hand, so it cannot be made again; register its architecture and use make_model",
        directory.string()));
  }
  auto fresh = directory;
  fresh += ".new";
  try {
    fs::remove_all(fresh);
    make_directories(fresh);
    auto tensors = module_tensors(predictor.perception(), "perception.");
    tensors.merge(model_tensors(model));
    write_safetensors(weights_path(fresh), arrays_of(tensors), {{"format", "anesi"}});
    nlohmann::ordered_json manifest;
    manifest["format"] = kManifestFormat;
    if (!details.task.empty()) {
      manifest["task"] = details.task;
      manifest["preset"] = details.preset;
    }
    manifest["architecture"] = model.architecture;
    manifest["multilinear"] = model.prediction->multilinear();
    manifest["explains"] = model.explanation != nullptr;
    manifest["prunes"] = predictor.prunes_symbolically();
    manifest["q_learned"] = predictor.q_learned();
    manifest["members"] = members_of(predictor.perception());
    manifest["worlds"] = predictor.problem().worlds().domains();
    manifest["outputs"] = predictor.problem().outputs().domains();
    auto options = details.options;
    auto own = predictor.options();
    OptionTable table;
    table.add_group("eval", own);
    for (const auto& row : table.rows()) options[row.name] = table.get(row.name);
    for (const auto& [name, value] : model.options) options[name] = value;
    for (const auto& [name, value] : options) manifest["options"][name] = value;
    if (const auto& decision = predictor.decision()) {
      manifest["decision"] = {{"slope", decision->slope}, {"offset", decision->offset}};
    }
    if (!details.data_fingerprint.empty()) {
      manifest["data"] = {{"origin", details.trained_on}, {"fingerprint", details.data_fingerprint}};
    }
    if (const auto* const found = predictor.problem().facts().find<FoundFacts>()) {
      write_safetensors(found_path(fresh), found_facts_of(predictor.problem()), {{"format", "anesi found"}});
      manifest["found"] = {
          {"file", "found.safetensors"}, {"sha256", sha256_of_file(found_path(fresh))}, {"summary", found->summary}};
    }
    manifest["weights"] = {{"file", "weights.safetensors"}, {"sha256", sha256_of_file(weights_path(fresh))}};
    write_file_atomically(manifest_path(fresh), manifest.dump(2) + "\n");
    replace_directory(fresh, directory);
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove_all(fresh, ignored);
    throw;
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("{}: cannot save the model: {}", directory.string(), error.code().message()));
  }
}

void Predictor::save(const fs::path& directory) const { save_model(directory, *this); }

NamedTensors load_q(const fs::path& directory, const std::string& architecture) {
  const auto saved = read_saved_model(directory);
  if (saved.architecture != architecture) {
    throw Error(fmt::format("{}: its q is {}, not {}", directory.string(), saved.architecture, architecture));
  }
  return read_weights(saved);
}

}  // namespace anesi
