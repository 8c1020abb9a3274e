// The built-in tasks: their functions, and their data as arrays.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "anesi/builtin/builtin.h"
#include "anesi/core/error.h"
#include "arrays.h"
#include "bind.h"
#include "computing.h"

namespace anesi::python {
namespace {

using Settings = std::vector<std::string>;
using Sources = std::vector<std::pair<std::string, nb::callable>>;

Builtin make(const std::string& name, const Settings& settings, const TaskContext& context) {
  const auto chosen = builtins().find(name).choose();
  OptionTable table;
  table.add_group("task", *chosen);
  for (const auto& setting : settings) table.set(setting);
  return chosen->make(context);
}

// A function in Python that fetches MNIST. Errors it raises are reasons to try the next; an interrupt ends all.
MnistSource source_of(const std::string& name, nb::callable fetch) {
  return {name, [fetch = PythonFunction(std::move(fetch))](const std::filesystem::path& scratch) {
            const nb::gil_scoped_acquire lock;
            try {
              return std::filesystem::path(nb::cast<std::string>(fetch(scratch.string())));
            } catch (const nb::python_error& error) {
              if (!error.matches(PyExc_Exception)) throw;
              throw Error(nb::cast<std::string>(nb::str(error.value())));
            }
          }};
}

nb::dict dict_of(const ExampleArrays& examples) {
  nb::dict arrays;
  arrays["inputs"] = object_of(examples.inputs);
  const auto add = [&](const char* name, const std::optional<Array>& array) {
    if (array) arrays[name] = object_of(*array);
  };
  add("index", examples.index);
  add("outputs", examples.outputs);
  add("holds", examples.holds);
  add("observed_worlds", examples.observed_worlds);
  add("worlds", examples.worlds);
  return arrays;
}

nb::dict load(const std::string& name, const Settings& settings, std::uint64_t seed,
              const std::optional<std::string>& data, bool validation, const nb::object& say, const Sources& sources,
              std::int64_t threads) {
  TaskContext context{.seed = seed, .validation = validation, .say = say_to(say)};
  if (data) context.data = *data;
  for (const auto& [source, fetch] : sources) context.mnist_sources.push_back(source_of(source, fetch));
  const auto splits = compute(threads, [&] { return make(name, settings, context).load(); });
  nb::dict result;
  result["origin"] = splits.origin;
  result["train"] = dict_of(splits.train);
  result["validation"] = splits.validation ? nb::object(dict_of(*splits.validation)) : nb::none();
  result["test"] = dict_of(splits.test);
  return result;
}

}  // namespace

void bind_tasks(nb::module_& module) {
  module.def("task_names", [] {
    std::vector<std::pair<std::string, std::string>> names;
    for (const auto& [name, entry] : builtins().all()) names.emplace_back(name, entry.summary);
    return names;
  });
  module.def(
      "task_options",
      [](const std::string& name) {
        const auto chosen = builtins().find(name).choose();
        OptionTable table;
        table.add_group("task", *chosen);
        std::vector<std::tuple<std::string, std::string, std::string, std::string>> rows;
        for (const auto& row : table.rows()) rows.emplace_back(row.name, row.fallback, row.range, row.help);
        return rows;
      },
      nb::arg("name"));
  module.def(
      "task_problem",
      [](const std::string& name, const Settings& settings) { return HeldProblem{make(name, settings, {}).problem}; },
      nb::arg("name"), nb::arg("settings") = Settings());
  module.def("load_task", &load, nb::arg("name"), nb::arg("settings") = Settings(), nb::kw_only(), nb::arg("seed") = 0,
             nb::arg("data") = nb::none(), nb::arg("validation") = false, nb::arg("say") = nb::none(),
             nb::arg("sources") = Sources(), nb::arg("threads") = 0);
  module.def("mnist_files", &mnist_files);
}

}  // namespace anesi::python
