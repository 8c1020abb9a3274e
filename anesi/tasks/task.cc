#include "anesi/tasks/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/tensors/array_examples.h"

namespace anesi {

Registry<TaskEntry>& tasks() {
  static Registry<TaskEntry> all("task");
  return all;
}

Task task_of(Builtin builtin) {
  Task task;
  task.problem = std::move(builtin.problem);
  task.load = [load = std::move(builtin.load)] { return examples_of(load()); };
  task.export_data = std::move(builtin.export_data);
  return task;
}

const Preset& TaskEntry::preset(const std::string& name) const {
  const auto found = std::ranges::find(presets, name, &Preset::name);
  if (found == presets.end()) {
    std::vector<std::string> names;
    for (const auto& preset : presets) names.push_back(preset.name);
    throw UsageError(fmt::format("there is no preset {}; there are {}", name, fmt::join(names, ", ")));
  }
  return *found;
}

}  // namespace anesi
