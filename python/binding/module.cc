// anesi._core: the library as the Python package uses it. Users meet python/anesi/*.py, never this.
//
// The lock is let go wherever something is computed: a backward pass in C++ that held it would wait for itself.
#include <fmt/format.h>
#include <torch/extension.h>
#include <torch/version.h>

#include <filesystem>

#include "anesi/core/asked_output.h"
#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/discover/drawing.h"
#include "anesi/exact/automaton.h"
#include "anesi/exact/enumeration.h"
#include "anesi/formula/formula.h"
#include "anesi/logic/cnf.h"
#include "anesi/models/automaton_inference.h"
#include "anesi/options/value_named.h"
#include "anesi/perception/pooled_relu.h"
#include "anesi/run/load_run.h"
#include "anesi/tensors/own_words.h"
#include "anesi/tensors/problem.h"
#include "core.h"
#include "estimator.h"
#include "flow.h"
#include "labels.h"
#include "markov.h"
#include "python_function.h"

namespace anesi::python {
namespace {

using Released = py::call_guard<py::gil_scoped_release, SignalsLetIn>;
using MaybeTensor = std::optional<torch::Tensor>;

Asked asked(const torch::Tensor& values, bool logits, const MaybeTensor& given) {
  return {values, logits, given.value_or(torch::Tensor())};
}

Observations observations(const MaybeTensor& outputs, const MaybeTensor& holds, const MaybeTensor& worlds) {
  Observations seen(outputs.value_or(torch::Tensor()), holds.value_or(torch::Tensor()));
  seen.worlds = worlds.value_or(torch::Tensor());
  return seen;
}

py::object bound_of(const std::optional<DistanceBound>& bound) {
  if (!bound) return py::none();
  using namespace py::literals;
  return py::dict("bound"_a = bound->bound, "level"_a = bound->level, "draws"_a = bound->draws,
                  "differing"_a = bound->differing, "beliefs"_a = bound->beliefs);
}

py::dict choice_of(const Core& core) {
  using namespace py::literals;
  const auto& choice = core.choice();
  return py::dict("architecture"_a = choice.architecture, "reason"_a = choice.reason, "facts"_a = choice.facts,
                  "calls"_a = choice.calls, "seconds"_a = choice.seconds,
                  "certificate"_a = bound_of(choice.certificate));
}

std::optional<Choice> choice_from(const py::object& dict) {
  if (dict.is_none()) return std::nullopt;
  return Choice{.architecture = dict["architecture"].cast<std::string>(),
                .reason = dict["reason"].cast<std::string>(),
                .facts = dict["facts"].cast<NamedTensors>(),
                .calls = dict["calls"].cast<std::int64_t>(),
                .seconds = dict["seconds"].cast<double>()};
}

py::dict check_of(const Core& core, const torch::Tensor& values, bool logits, const MaybeTensor& given,
                  std::int64_t samples) {
  using namespace py::literals;
  CheckFigures figures;
  {
    const py::gil_scoped_release release;
    figures = core.check(asked(values, logits, given), samples);
  }
  py::dict result("beliefs"_a = figures.beliefs, "certificate"_a = bound_of(figures.bound), "distance"_a = py::none(),
                  "divergence"_a = py::none(), "exploits"_a = py::none());
  if (figures.multilinear) {
    result["certificate"] = py::dict("bound"_a = figures.multilinear->mean + figures.multilinear->margin,
                                     "level"_a = 0.95, "draws"_a = samples * figures.beliefs,
                                     "differing"_a = py::none(), "beliefs"_a = "the beliefs that were given");
  }
  if (figures.distance) {
    result["distance"] = figures.distance->total_variation;
    result["divergence"] = figures.distance->divergence;
  }
  if (figures.exploits) {
    result["exploits"] =
        py::dict("truth"_a = figures.exploits->truth, "cheapest"_a = figures.exploits->cheapest,
                 "cheapest_loss"_a = figures.exploits->cheapest_loss, "cheaper"_a = figures.exploits->cheaper);
  }
  return result;
}

// One dictionary a step: which variable, what was on offer and what was taken.
py::list record_of(const Core& core, const torch::Tensor& values, bool logits, const MaybeTensor& given,
                   const std::vector<std::int64_t>& output, const std::vector<std::int64_t>& world) {
  using namespace py::literals;
  std::vector<RecordedStep> steps;
  {
    const py::gil_scoped_release release;
    steps = core.record(asked(values, logits, given), output, world);
  }
  py::list result;
  for (const auto& step : steps) {
    result.append(py::dict("output"_a = step.output, "variable"_a = step.variable, "chosen"_a = step.chosen,
                           "probabilities"_a = step.probabilities, "allowed"_a = step.allowed));
  }
  return result;
}

std::unique_ptr<Core> make_core(const py::object& ask, const std::vector<std::int64_t>& worlds,
                                const std::vector<std::int64_t>& outputs, std::int64_t given,
                                const std::string& architecture, const std::vector<std::string>& settings,
                                std::uint64_t seed, const py::object& say, const std::vector<std::int64_t>& order,
                                const std::shared_ptr<Automaton>& automaton, const std::shared_ptr<Cnf>& cnf,
                                const py::object& chosen) {
  std::shared_ptr<const Problem> problem = std::make_shared<PythonProblem>(Space(worlds), Space(outputs), ask);
  auto facts = problem->facts();
  if (automaton) facts.with(std::shared_ptr<const Automaton>(automaton));
  if (cnf) facts.with(std::shared_ptr<const Cnf>(cnf));
  problem = with_facts(problem, facts);
  check_told_facts(*problem);
  const auto choice = choice_from(chosen);
  auto speak = say_to(say);
  const py::gil_scoped_release release;
  const SignalsLetIn signals;
  return std::make_unique<Core>(problem, given, architecture, settings, seed, std::move(speak), choice, order);
}

FormulaOptions formula_options(const std::string& as, const std::vector<int>& outputs, const std::vector<int>& told,
                               double seconds) {
  return {.as = value_named<FormulaAs>("as_", as), .outputs = outputs, .told = told, .seconds = seconds};
}

// A formula as knowledge: from a file, or from clauses as text in DIMACS.
std::shared_ptr<Core> make_formula_core(const std::optional<std::string>& path, const std::string& text,
                                        const FormulaOptions& options, std::int64_t given,
                                        const std::string& architecture, const std::vector<std::string>& settings,
                                        std::uint64_t seed, const py::object& say, const py::object& chosen) {
  const auto choice = choice_from(chosen);
  auto speak = say_to(say);
  const py::gil_scoped_release release;
  const SignalsLetIn signals;
  const auto problem =
      path ? read_formula_problem(*path, options, speak) : formula_problem(parse_dimacs(text, "clauses"), options);
  std::vector<std::string> told;
  auto chosen_architecture = architecture;
  const bool exact =
      problem->facts().find<CompiledFormula>() != nullptr || problem->worlds().points() <= kMostWorldsEnumerated;
  const bool approximate = !exact && options.as == FormulaAs::kConstraint;
  if (approximate && architecture.empty()) chosen_architecture = kPropagation;
  if (approximate && architecture == "graph") {  // q learns to explain under the solver
    told = {"q.variant=prune", "q.policy=on", "q.samples=64", "q.perceived=true", "q.pretrain=100"};
  }
  told.insert(told.end(), settings.begin(), settings.end());
  return std::make_shared<Core>(problem, given, chosen_architecture, told, seed, std::move(speak), choice,
                                std::vector<std::int64_t>{});
}

// A rule in Python: (kind, values read, state) -> (what is emitted, next state).
std::shared_ptr<Automaton> make_automaton(const std::vector<std::int64_t>& worlds,
                                          const std::vector<std::int64_t>& outputs, const py::list& steps,
                                          std::int64_t states, std::int64_t start, const py::object& rule) {
  std::vector<ReadingStep> order;
  for (const auto& item : steps) {
    const auto step = item.cast<py::tuple>();
    order.push_back({step[0].cast<std::vector<std::int64_t>>(), step[1].cast<std::optional<std::int64_t>>(),
                     step[2].cast<std::int64_t>()});
  }
  return std::make_shared<Automaton>(
      ReadingOrder(Space(worlds), Space(outputs), std::move(order)), states, start,
      [&](std::int64_t kind, Values read, std::int64_t state) {
        const auto move = rule(kind, std::vector<std::int64_t>(read.begin(), read.end()), state).cast<py::tuple>();
        return Automaton::Move{move[0].cast<std::int64_t>(), move[1].cast<std::int64_t>()};
      });
}

py::list steps_of(const Automaton& automaton) {
  using namespace py::literals;
  py::list steps;
  for (const auto& step : automaton.reading().steps()) {
    steps.append(py::dict("reads"_a = step.reads, "emits"_a = step.emits, "kind"_a = step.kind));
  }
  return steps;
}

// Worlds are checked: the machine itself trusts them.
torch::Tensor run_on(const Automaton& automaton, const torch::Tensor& worlds) {
  std::vector<std::int64_t> domains(automaton.reading().read().size());
  for (const auto& step : automaton.reading().steps()) {
    for (std::size_t place = 0; place < step.reads.size(); ++place) {
      domains[as_size(step.reads[place])] = automaton.reading().kind(step.kind).read_domains[place];
    }
  }
  const Space space(std::move(domains));
  const auto rows = as_rows(worlds, worlds.dim() > 0 ? worlds.size(0) : 0, space.variables(), "worlds");
  check_values(rows, space, {}, "worlds");
  return outputs_of(automaton, rows);
}

py::dict table_of(const Automaton& automaton, std::int64_t kind) {
  using namespace py::literals;
  if (kind < 0 || kind >= automaton.reading().kinds()) {
    throw UsageError(fmt::format("kind: 0 to {} is expected, not {}", automaton.reading().kinds() - 1, kind));
  }
  const auto& table = automaton.table(kind);
  return py::dict("states"_a = table.states, "next_states"_a = table.next_states, "emits"_a = table.emits,
                  "next"_a = table.next);
}

void bind_facts(py::module_& module) {
  py::class_<Automaton, std::shared_ptr<Automaton>>(module, "Automaton")
      .def(py::init(&make_automaton))
      .def_property_readonly("states", &Automaton::states)
      .def_property_readonly("start", &Automaton::start)
      .def_property_readonly("widths", &Automaton::widths)
      .def_property_readonly("steps", &steps_of)
      .def("table", &table_of)
      .def("run", &run_on, Released())
      .def("svg", [](const Automaton& automaton, const std::string& title) {
        return draw_automaton(automaton, {.title = title});
      });
  py::class_<Cnf, std::shared_ptr<Cnf>>(module, "Cnf")
      .def(py::init([](const std::vector<std::int64_t>& worlds, const std::vector<std::int64_t>& outputs) {
        return std::make_shared<Cnf>(Space(worlds), Space(outputs));
      }))
      .def("world", &Cnf::world)
      .def("output", &Cnf::output)
      .def("fresh_variable", &Cnf::fresh_variable)
      .def("add", &Cnf::add)
      .def("exactly_one", &Cnf::exactly_one)
      .def_property_readonly("clauses", &Cnf::clauses)
      .def_property_readonly("variables", &Cnf::variables);
}

void bind_core(py::module_& module) {
  py::class_<Core, std::shared_ptr<Core>>(module, "Core")
      .def(py::init(&make_core))
      .def_property_readonly("worlds", &Core::worlds)
      .def_property_readonly("given", &Core::given)
      .def_property_readonly("outputs", [](const Core& core) { return core.problem().outputs().domains(); })
      .def_property_readonly("asked",
                             [](const Core& core) -> std::optional<std::vector<std::int64_t>> {
                               const auto* const asked = core.problem().facts().find<AskedOutput>();
                               return asked == nullptr ? std::nullopt : std::optional(asked->output);
                             })
      .def_property_readonly("choice", &choice_of)
      .def_property_readonly("exact", &Core::is_exact)
      .def_property_readonly("learns", &Core::learns)
      .def_property_readonly("learns_q", &Core::learns_q)
      .def_property_readonly("grown", &Core::grown)
      .def_property_readonly("automaton",
                             [](const Core& core) { return std::const_pointer_cast<Automaton>(core.automaton()); })
      .def("apply", &Core::apply, Released())
      .def(
          "beliefs",
          [](const Core& core, const torch::Tensor& values, bool logits, const MaybeTensor& given) {
            return core.beliefs(asked(values, logits, given));
          },
          Released())
      .def(
          "log_prob",
          [](const Core& core, const torch::Tensor& values, bool logits, const MaybeTensor& given,
             const MaybeTensor& outputs, const MaybeTensor& holds, const MaybeTensor& worlds) {
            return core.log_prob(asked(values, logits, given), observations(outputs, holds, worlds));
          },
          Released())
      .def(
          "loss",
          [](const Core& core, const torch::Tensor& values, bool logits, const MaybeTensor& given,
             const MaybeTensor& outputs, const MaybeTensor& holds, const MaybeTensor& worlds) {
            return core.loss(asked(values, logits, given), observations(outputs, holds, worlds));
          },
          Released())
      .def("learn", &Core::learn, Released())
      .def(
          "watch",
          [](Core& core, const torch::Tensor& beliefs) {
            const auto wrong = core.watch(beliefs);
            return wrong.defined() ? MaybeTensor(wrong) : std::nullopt;
          },
          Released())
      .def("grow", &Core::grow, Released())
      .def(
          "predict",
          [](const Core& core, const torch::Tensor& values, bool logits, const MaybeTensor& given, std::int64_t top) {
            const auto found = core.predict(asked(values, logits, given), top);
            return std::make_tuple(found.outputs, found.probability, found.worlds, found.symbolic);
          },
          Released())
      .def(
          "explain",
          [](const Core& core, const torch::Tensor& values, bool logits, const MaybeTensor& given,
             const MaybeTensor& outputs, std::int64_t top) {
            return core.explain(asked(values, logits, given), outputs.value_or(torch::Tensor()), top);
          },
          Released())
      .def(
          "marginals",
          [](const Core& core, const torch::Tensor& values, bool logits, const MaybeTensor& given,
             const torch::Tensor& outputs) { return core.marginals(asked(values, logits, given), outputs); },
          Released())
      .def(
          "sample",
          [](const Core& core, const torch::Tensor& values, bool logits, const MaybeTensor& given,
             const torch::Tensor& outputs, std::int64_t count,
             std::uint64_t seed) { return core.sample(asked(values, logits, given), outputs, count, seed); },
          Released())
      .def(
          "most_probable",
          [](const Core& core, const torch::Tensor& values, bool logits, const MaybeTensor& given,
             const torch::Tensor& outputs) { return core.most_probable(asked(values, logits, given), outputs); },
          Released())
      .def("check", &check_of)
      .def("record", &record_of)
      .def("seconds_in_cpp", &Core::seconds_in_cpp, Released())
      .def("state", &Core::state, Released())
      .def("load_state", &Core::load_state, Released())
      .def(
          "save", [](const Core& core, const std::string& path) { core.save(path); }, Released())
      .def(
          "to_double", [](Core& core, bool wide) { core.to(wide ? torch::kFloat64 : torch::kFloat32); }, Released())
      .def("join", [](Core& core, std::int64_t rank, std::int64_t size, const py::object& add_up) {
        core.join({rank, size, [function = PythonFunction(add_up)](torch::Tensor& tensor) {
                     const py::gil_scoped_acquire lock;
                     function(tensor);
                   }});
      });
  py::class_<FormulaOptions>(module, "FormulaOptions").def(py::init(&formula_options));
  module.def("formula_core", &make_formula_core);
  module.def("option_names", [] { return CoreOptions().names(); });
  module.def("load",
             [](const std::string& path, const py::object& ask, const std::vector<std::int64_t>& worlds,
                const std::vector<std::int64_t>& outputs, const std::shared_ptr<Cnf>& cnf, const py::object& say) {
               std::shared_ptr<const Problem> problem;
               if (!ask.is_none()) problem = std::make_shared<PythonProblem>(Space(worlds), Space(outputs), ask);
               if (problem && cnf) problem = with(problem, std::shared_ptr<const Cnf>(cnf));
               if (problem) check_told_facts(*problem);
               auto speak = say_to(say);
               const py::gil_scoped_release release;
               return std::shared_ptr<Core>(load_core(path, problem, std::move(speak)));
             });
  module.def("read_manifest", [](const std::string& path) {
    using namespace py::literals;
    const auto saved = read_saved_model(path);
    return py::dict("task"_a = saved.task, "preset"_a = saved.preset, "architecture"_a = saved.architecture,
                    "worlds"_a = saved.worlds, "outputs"_a = saved.outputs, "options"_a = saved.options,
                    "found"_a = saved.found);
  });
}

// LeNet in one call: ten layers called one by one from Python cost a few per cent of a step.
torch::Tensor lenet(const torch::Tensor& images, const std::vector<torch::Tensor>& weights) {
  if (weights.size() != 10) throw UsageError("lenet: ten weights are expected");
  const auto flat = images.reshape({-1, 1, 28, 28}).contiguous(torch::MemoryFormat::ChannelsLast);
  auto x = pooled_relu(torch::conv2d(flat, weights[0], weights[1]));
  x = pooled_relu(torch::conv2d(x, weights[2], weights[3])).flatten(1);
  x = torch::linear(x, weights[4], weights[5]).relu();
  x = torch::linear(x, weights[6], weights[7]).relu();
  return torch::linear(x, weights[8], weights[9]).view({images.size(0), images.size(1), -1});
}

// Examples of a built-in task.
py::object tensor_or_none(const torch::Tensor& tensor) {
  return tensor.defined() ? py::cast(tensor) : py::object(py::none());
}

struct TaskData {
  Task task;
  Splits splits;
};

std::shared_ptr<TaskData> load_task(const std::string& name, const std::vector<std::string>& settings,
                                    std::uint64_t seed, const std::optional<std::string>& data, bool validation,
                                    const py::object& say) {
  TaskContext context;
  if (data) context.data = *data;
  context.say = say_to(say);
  const py::gil_scoped_release release;
  Configuration configuration(name);
  for (const auto& setting : settings) configuration.table().set(std::string_view(setting));
  configuration.seed = static_cast<std::int64_t>(seed);
  configuration.train.validation = validation;
  auto loaded = std::make_shared<TaskData>();
  loaded->task = configuration.make_task(std::move(context));
  loaded->splits = loaded->task.load();
  return loaded;
}

void bind_tasks(py::module_& module) {
  py::class_<Examples, std::shared_ptr<Examples>>(module, "Examples")
      .def_property_readonly("size", &Examples::size)
      .def("inputs", &Examples::inputs, Released())
      .def_property_readonly("outputs", [](const Examples& all) { return tensor_or_none(all.labels().outputs); })
      .def_property_readonly("holds", [](const Examples& all) { return tensor_or_none(all.labels().holds); })
      .def_property_readonly("worlds", [](const Examples& all) { return tensor_or_none(all.worlds()); });
  const auto split = [](const std::shared_ptr<const Examples> Splits::*which) {
    return [which](const TaskData& data) { return std::const_pointer_cast<Examples>(data.splits.*which); };
  };
  py::class_<TaskData, std::shared_ptr<TaskData>>(module, "TaskData")
      .def_property_readonly("train", split(&Splits::train))
      .def_property_readonly("validation", split(&Splits::validation))
      .def_property_readonly("test", split(&Splits::test))
      .def_property_readonly("origin", [](const TaskData& data) { return data.splits.origin; })
      .def_property_readonly("worlds", [](const TaskData& data) { return data.task.problem->worlds().domains(); })
      .def_property_readonly("outputs", [](const TaskData& data) { return data.task.problem->outputs().domains(); })
      .def(
          "apply", [](const TaskData& data, const torch::Tensor& worlds) { return apply(*data.task.problem, worlds); },
          Released());
  module.def("task_names", [] {
    std::vector<std::pair<std::string, std::string>> names;
    for (const auto& [name, entry] : tasks().all()) names.emplace_back(name, entry.summary);
    return names;
  });
  module.def("load_task", &load_task);
}

void bind_runs(py::module_& module) {
  py::class_<LoadedRun, std::shared_ptr<LoadedRun>>(module, "Run")
      .def_property_readonly("task", [](const LoadedRun& run) { return run.saved.task; })
      .def_property_readonly("options", [](const LoadedRun& run) { return run.saved.options; })
      .def_property_readonly("worlds", [](const LoadedRun& run) { return run.saved.worlds; })
      .def_property_readonly("outputs", [](const LoadedRun& run) { return run.saved.outputs; })
      .def_property_readonly("architecture", [](const LoadedRun& run) { return run.saved.architecture; })
      .def(
          "beliefs", [](const LoadedRun& run, const torch::Tensor& inputs) { return run.predictor.beliefs(inputs); },
          Released())
      .def(
          "apply",
          [](const LoadedRun& run, const torch::Tensor& worlds) { return apply(run.predictor.problem(), worlds); },
          Released())
      .def(
          "predict",
          [](const LoadedRun& run, const torch::Tensor& beliefs, std::int64_t top) {
            const auto found = run.predictor.predict(beliefs, top);
            return std::make_tuple(found.outputs, found.probability, found.worlds, found.symbolic);
          },
          Released())
      .def(
          "explain",
          [](const LoadedRun& run, const torch::Tensor& belief, const std::vector<std::int64_t>& output,
             std::int64_t top) {
            const auto why = run.predictor.explain(belief, {.output = output, .top = top});
            std::vector<std::pair<std::vector<std::int64_t>, double>> worlds;
            for (const auto& found : why.worlds) worlds.emplace_back(found.world, found.probability);
            return std::make_tuple(why.output, why.probability, worlds);
          },
          Released())
      .def(
          "marginals",
          [](const LoadedRun& run, const torch::Tensor& beliefs, const torch::Tensor& outputs) {
            return run.predictor.marginals(beliefs, outputs);
          },
          Released());
  module.def("load_run", [](const std::string& path, const std::optional<std::string>& data, const py::object& say) {
    TaskContext context;
    if (data) context.data = *data;
    context.say = say_to(say);
    const py::gil_scoped_release release;
    return std::make_shared<LoadedRun>(load_run(path, std::move(context)));
  });
}

}  // namespace
}  // namespace anesi::python

PYBIND11_MODULE(_core, module) {
  using namespace anesi;
  namespace py = pybind11;
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const UsageError& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    } catch (const Error& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    } catch (const std::filesystem::filesystem_error& error) {
      PyErr_SetString(PyExc_OSError, in_own_words(error).c_str());
    }
  });
  module.attr("build") = this_build().to_string("libtorch " TORCH_VERSION);
  python::bind_facts(module);
  python::bind_core(module);
  python::bind_tasks(module);
  python::bind_runs(module);
  python::bind_flow(module);
  python::bind_markov(module);
  python::bind_estimators(module);
  module.def("lenet", &python::lenet, py::call_guard<py::gil_scoped_release>());
}
