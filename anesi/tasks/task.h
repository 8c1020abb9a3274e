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
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/core/unique_name.h"
#include "anesi/data/dataset.h"
#include "anesi/options/option_table.h"
#include "anesi/perception/perception.h"

namespace anesi {

// A prediction and what it was made from, for a picture of it.
struct PredictionPicture {
  torch::Tensor inputs;  // [1, …]
  std::vector<std::int64_t> read, predicted;
  std::vector<std::int64_t> label;  // empty where it is not known
  std::vector<double> matters;      // how much each world variable matters to the prediction
};

struct Task {
  std::unique_ptr<Problem> problem = {};
  std::function<std::shared_ptr<Perception>()> make_perception = {};  // untrained, its weights from torch's generator
  std::shared_ptr<Perception> perception = {};  // the one that commands use; made by Configuration::make_task
  // Loads the data; called at most once, and not at all where only the problem is needed.
  std::function<Splits()> load = {};
  // One example's input from a file of the user's, [1, …].
  std::function<torch::Tensor(const std::filesystem::path&)> read_input = {};
  // A world or an output as people write it; by default its values with spaces between.
  std::function<std::string(Values)> show_world = {}, show_output = {};
  // A world laid out for reading, on several lines; by default as show_world writes it.
  std::function<std::string(Values)> lay_out_world = {};
  // What variables are called; by default "variable 7" and "output 7", counted from 1.
  std::function<std::string(std::int64_t)> name_variable = {}, name_output = {};
  // What a value of a world variable is called; by default its number.
  std::function<std::string(std::int64_t)> name_value = {};
  // A picture (SVG) of an input [1, …], how it was read and the world that explains it.
  std::function<std::string(const torch::Tensor& inputs, Values read, Values explained)> draw = {};
  // A picture (SVG) of a prediction by q alone, where explanations by search are out of reach.
  std::function<std::string(const PredictionPicture&)> draw_prediction = {};
  // Where all labels are about one output: that output. Empty elsewhere.
  std::vector<std::int64_t> question = {};
  // An output as people write it, back to values; by default numbers with spaces or commas between. Throws UsageError.
  std::function<std::vector<std::int64_t>(const std::string&)> read_output = {};
  // Inputs changed in ways that leave their worlds as they are, for a phase that asks for it. Reproducible by the
  // generator.
  std::function<torch::Tensor(const torch::Tensor& inputs, at::Generator)> augment = {};
  // Random pieces of examples that are smaller problems of the same kind (a window of a map with a piece of its path),
  // and that problem: what training may look at instead of whole examples (train.pieces). Needs a q for every size.
  std::function<Batch(const Dataset& data, const torch::Tensor& rows, at::Generator)> draw_pieces = {};
  std::unique_ptr<Problem> piece = {};
  // Writes the data as files that other programs read.
  std::function<void(const std::filesystem::path& directory)> export_data = {};
};

// What a task is told besides its own options.
struct TaskContext {
  std::optional<std::filesystem::path> data;  // --data
  std::uint64_t seed = 0;
  bool validation = false;                      // hold out validation examples from the training data
  std::function<void(const std::string&)> say;  // told in a line what is being fetched or made; may be empty
};

// Named option values, "name=value" each.
struct Preset {
  std::string name, summary;
  std::vector<std::string> settings;
};

// One task with values for its options.
class TaskChoice {
 public:
  virtual ~TaskChoice() = default;
  virtual void describe(OptionTable& table) = 0;
  virtual Task make(const TaskContext& context) const = 0;
};

struct TaskEntry {
  std::string summary;
  std::vector<Preset> presets;  // the first is the default
  std::function<std::unique_ptr<TaskChoice>()> choose;

  // Throws UsageError where there is no such preset.
  const Preset& preset(const std::string& name) const;
};

// All that registered, by name.
std::map<std::string, TaskEntry>& tasks();
// Throws UsageError that lists what there is.
const TaskEntry& find_task(const std::string& name);

template <typename Options>
class TaskChoiceOf final : public TaskChoice {
 public:
  using Make = Task (*)(const Options&, const TaskContext&);
  explicit TaskChoiceOf(Make make) : make_(make) {}
  void describe(OptionTable& table) override { options_.describe(table); }
  Task make(const TaskContext& context) const override { return make_(options_, context); }

 private:
  Options options_;
  Make make_;
};

template <typename Options>
bool register_task(const std::string& name, const std::string& summary, std::vector<Preset> presets,
                   typename TaskChoiceOf<Options>::Make make) {
  return tasks()
      .emplace(name,
               TaskEntry{summary, std::move(presets), [make] { return std::make_unique<TaskChoiceOf<Options>>(make); }})
      .second;
}

#define ANESI_TASK(name, summary, Options, presets, make) \
  [[maybe_unused]] const bool ANESI_UNIQUE_NAME(registered_task_) = register_task<Options>(name, summary, presets, make)

}  // namespace anesi
