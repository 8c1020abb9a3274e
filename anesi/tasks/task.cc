#include "anesi/tasks/task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "anesi/core/error.h"

namespace anesi {

std::map<std::string, TaskEntry>& tasks() {
  static std::map<std::string, TaskEntry> all;
  return all;
}

const TaskEntry& find_task(const std::string& name) {
  const auto found = tasks().find(name);
  if (found == tasks().end()) {
    std::vector<std::string> names;
    for (const auto& [known, entry] : tasks()) names.push_back(known);
    throw UsageError(fmt::format("there is no task {}; there are {}", name, fmt::join(names, ", ")));
  }
  return found->second;
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
