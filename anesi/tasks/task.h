// A task: a problem, data that is labelled with its outputs, and a network that looks at the inputs.
//
// A task registers itself from its own folder (see tasks/parity/parity.cc, the one to copy):
//
//   ANESI_TASK("parity", "is the sum of a row of digits odd?", ParityOptions, kPresets, make_parity);
//
// Its options then appear as task.digits and so on, and every command knows it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anesi/builtin/builtin.h"
#include "anesi/core/problem.h"
#include "anesi/options/registry.h"
#include "anesi/perception/perception.h"
#include "anesi/tasks/presentation.h"
#include "anesi/tensors/examples.h"
#include "anesi/train/pieces.h"

namespace anesi {

struct Task {
  std::shared_ptr<const Problem> problem = {};
  MakePerception make_perception = {};
  // Loads the data, the same each time; not called where only the problem is needed.
  std::function<Splits()> load = {};
  std::shared_ptr<const Presentation> presentation = std::make_shared<Presentation>();
  // Inputs changed in ways that leave their worlds as they are, reproducible by the generator; empty: not known.
  std::function<torch::Tensor(const torch::Tensor& inputs, at::Generator)> augment = {};
  // What training may look at instead of whole examples.
  std::optional<Pieces> pieces = {};
  // Whole examples as those of a more general problem, for a q that is to serve it (q.given).
  std::optional<Pieces> wholes = {};
  // Writes the data as files that other programs read; empty: it has none of its own.
  std::function<void(const std::filesystem::path& directory)> export_data = {};
};

// A task with the problem, the data and the export of a built-in one; the rest is yet to be filled in.
Task task_of(Builtin builtin);

// Named option values, "name=value" each.
struct Preset {
  std::string name, summary;
  std::vector<std::string> settings;
};

// One task with values for its options.
using TaskChoice = Choice<Task(const TaskContext&)>;

struct TaskEntry : Choosable<Task(const TaskContext&)> {
  std::vector<Preset> presets = {};  // at least one; the first is the default

  // Throws UsageError where there is no such preset.
  const Preset& preset(const std::string& name) const;
};

Registry<TaskEntry>& tasks();

template <typename Options>
bool register_task(const std::string& name, const std::string& summary, std::vector<Preset> presets,
                   Task (*make)(const Options&, const TaskContext&)) {
  return tasks().add(name, TaskEntry{choosable<Task(const TaskContext&), Options>(summary, make), std::move(presets)});
}

#define ANESI_TASK(name, summary, Options, presets, make)           \
  [[maybe_unused]] const bool ANESI_UNIQUE_NAME(registered_task_) = \
      ::anesi::register_task<Options>(name, summary, presets, make)

}  // namespace anesi
