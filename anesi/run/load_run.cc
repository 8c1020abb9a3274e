#include "anesi/run/load_run.h"

#include <fmt/format.h>

#include "anesi/core/error.h"

namespace anesi {

Splits LoadedRun::load_data() const {
  auto data = task.load();
  if (!saved.data_fingerprint.empty() && saved.data_fingerprint != fingerprint(data) && say) {
    say(fmt::format("note: {} are not the data of this run, which was trained on {}; --data chooses others",
                    data.origin, saved.trained_on));
  }
  return data;
}

LoadedRun load_run(const std::filesystem::path& directory, TaskContext context) {
  auto saved = read_saved_model(directory);
  const auto manifest = (saved.directory / "manifest.json").string();
  if (saved.task.empty()) {
    throw Error(fmt::format("{}: a model of no registered task; load it with its problem and perception", manifest));
  }
  std::unique_ptr<Configuration> configuration;
  try {
    configuration = Configuration::from_saved(saved.task, saved.preset, saved.options);
  } catch (const UsageError& error) {
    throw Error(fmt::format("{}: {}; the file is damaged", manifest, error.what()));
  }
  auto say = context.say;
  auto task = configuration->make_task(std::move(context));
  auto predictor = load_predictor(saved, task.problem, task.make_perception);
  return {std::move(saved), std::move(configuration), std::move(task), std::move(predictor), std::move(say)};
}

}  // namespace anesi
