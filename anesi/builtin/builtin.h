// The built-in tasks without their networks: functions with what is known of them, and data as arrays. The program's
// tasks (tasks/) and the Python package have them from here.
//
// One registers itself from its own file (see parity.cc, the one to copy):
//
//   ANESI_BUILTIN(ParityOptions, parity);
//
// Its options say what it is called, as kName, and what it is, as kSummary.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/core/say.h"
#include "anesi/data/digits.h"
#include "anesi/data/example_arrays.h"
#include "anesi/options/registry.h"

namespace anesi {

// What a task is told besides its own options.
struct TaskContext {
  std::optional<std::filesystem::path> data = {};  // --data
  std::uint64_t seed = 0;
  bool validation = false;                      // hold out validation examples from the training data
  Say say = {};                                 // told in a line what is being fetched or made; may be empty
  std::vector<MnistSource> mnist_sources = {};  // where handwritten digits may be fetched from

  DigitSets digits() const { return load_digits(data, say, mnist_sources); }
};

struct Builtin {
  std::shared_ptr<const Problem> problem;
  // The data, the same each time; not called if only the problem is needed.
  std::function<SplitArrays()> load;
  // Writes the data as files that other programs read; empty: it has none of its own.
  std::function<void(const std::filesystem::path& directory)> export_data = {};
};

using BuiltinEntry = Choosable<Builtin(const TaskContext&)>;

Registry<BuiltinEntry>& builtins();

// Rows of handwritten digits, one a world variable.
std::function<SplitArrays()> rows_of_digits(std::shared_ptr<const Problem> problem, TaskContext context);

template <typename Options>
bool register_builtin(Builtin (*make)(const Options&, const TaskContext&)) {
  return builtins().add(Options::kName, choosable<Builtin(const TaskContext&), Options>(Options::kSummary, make));
}

#define ANESI_BUILTIN(Options, make) \
  [[maybe_unused]] const bool ANESI_UNIQUE_NAME(registered_builtin_) = ::anesi::register_builtin<Options>(make)

}  // namespace anesi
