#include "anesi/tasks/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "anesi/core/error.h"

namespace anesi {

Registry<TaskEntry>& tasks() {
  static Registry<TaskEntry> all("task");
  return all;
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
