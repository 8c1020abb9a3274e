// Automata and formulas: what may be told of a function besides its values.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/discover/drawing.h"
#include "arrays.h"
#include "bind.h"
#include "computing.h"

namespace anesi::python {
namespace {

using Domains = std::vector<std::int64_t>;

// A rule in Python: (kind, values read, state) -> (what is emitted, next state).
HeldAutomaton make_automaton(const Domains& worlds, const Domains& outputs, const Steps& steps, std::int64_t states,
                             std::int64_t start, const nb::callable& rule) {
  return {std::make_shared<const Automaton>(reading_order(Space(worlds), Space(outputs), steps), states, start,
                                            [&](std::int64_t kind, Values read, std::int64_t state) {
                                              const auto move = rule(
                                                  kind, std::vector<std::int64_t>(read.begin(), read.end()), state);
                                              std::tuple<std::int64_t, std::int64_t> said;
                                              if (!nb::try_cast(move, said))
                                                throw nb::type_error("rule: it must give (value emitted, next state)");
                                              return Automaton::Move{std::get<0>(said), std::get<1>(said)};
                                            })};
}

nb::list steps_of(const HeldAutomaton& held) {
  nb::list steps;
  for (const auto& step : held.automaton->reading().steps()) {
    nb::dict said;
    said["reads"] = step.reads;
    said["emits"] = step.emits;
    said["kind"] = step.kind;
    steps.append(said);
  }
  return steps;
}

Space worlds_of(const Automaton& automaton) {
  Domains domains(automaton.reading().read().size());
  for (const auto& step : automaton.reading().steps()) {
    for (std::size_t place = 0; place < step.reads.size(); ++place) {
      domains[as_size(step.reads[place])] = automaton.reading().kind(step.kind).read_domains[place];
    }
  }
  return Space(std::move(domains));
}

// Worlds are checked: the machine itself trusts them.
Gives<std::int64_t> run_on(const HeldAutomaton& held, const Reads<std::int64_t>& worlds) {
  const auto outputs = compute(0, [&] {
    const auto space = worlds_of(*held.automaton);
    const auto rows = rows_of(worlds, space.variables(), "worlds");
    check_values(rows, space, {}, "worlds");
    return held.automaton->run(rows);
  });
  return give(outputs);
}

nb::dict table_of(const HeldAutomaton& held, std::int64_t kind) {
  const auto kinds = held.automaton->reading().kinds();
  if (kind < 0 || kind >= kinds) throw UsageError(fmt::format("kind: 0 to {} is expected, not {}", kinds - 1, kind));
  const auto& table = held.automaton->table(kind);
  nb::dict said;
  said["states"] = table.states;
  said["next_states"] = table.next_states;
  said["emits"] = table.emits;
  said["next"] = table.next;
  return said;
}

void require_value(const Encoding::Literals& literals, std::int64_t variable, std::int64_t value) {
  if (variable < 0 || variable >= std::ssize(literals)) {
    throw UsageError(fmt::format("variable: 0 to {} is expected, not {}", std::ssize(literals) - 1, variable));
  }
  const auto domain = std::ssize(literals[as_size(variable)]);
  if (value < 0 || value >= domain)
    throw UsageError(fmt::format("value: 0 to {} is expected, not {}", domain - 1, value));
}

}  // namespace

ReadingOrder reading_order(const Space& worlds, const Space& outputs, const Steps& steps) {
  std::vector<ReadingStep> order;
  for (const auto& [reads, emits, kind] : steps) order.push_back({reads, emits, kind});
  return {worlds, outputs, std::move(order)};
}

void bind_facts(nb::module_& module) {
  nb::class_<HeldAutomaton>(module, "Automaton")
      .def(
          "__init__",
          [](HeldAutomaton* self, const Domains& worlds, const Domains& outputs, const Steps& steps,
             std::int64_t states, std::int64_t start, const nb::callable& rule) {
            new (self) HeldAutomaton(make_automaton(worlds, outputs, steps, states, start, rule));
          },
          nb::arg("worlds"), nb::arg("outputs"), nb::arg("steps"), nb::arg("states"), nb::arg("start"), nb::arg("rule"))
      .def_prop_ro("states", [](const HeldAutomaton& held) { return held.automaton->states(); })
      .def_prop_ro("start", [](const HeldAutomaton& held) { return held.automaton->start(); })
      .def_prop_ro("widths", [](const HeldAutomaton& held) { return held.automaton->widths(); })
      .def_prop_ro("steps", &steps_of)
      .def("table", &table_of, nb::arg("kind"))
      .def("run", &run_on, nb::arg("worlds"))
      .def(
          "svg",
          [](const HeldAutomaton& held, const std::string& title) {
            return draw_automaton(*held.automaton, {.title = title});
          },
          nb::arg("title") = "");
  nb::class_<Cnf>(module, "Cnf")
      .def(
          "__init__",
          [](Cnf* self, const Domains& worlds, const Domains& outputs) {
            new (self) Cnf(Space(worlds), Space(outputs));
          },
          nb::arg("worlds"), nb::arg("outputs"))
      .def(
          "world",
          [](const Cnf& cnf, std::int64_t variable, std::int64_t value) {
            require_value(cnf.encoding().worlds, variable, value);
            return cnf.world(variable, value);
          },
          nb::arg("variable"), nb::arg("value"))
      .def(
          "output",
          [](const Cnf& cnf, std::int64_t variable, std::int64_t value) {
            require_value(cnf.encoding().outputs, variable, value);
            return cnf.output(variable, value);
          },
          nb::arg("variable"), nb::arg("value"))
      .def("fresh_variable", &Cnf::fresh_variable)
      .def("add", &Cnf::add, nb::arg("clause"))
      .def("exactly_one", &Cnf::exactly_one, nb::arg("literals"))
      .def_prop_ro("clauses", &Cnf::clauses)
      .def_prop_ro("variables", &Cnf::variables);
}

}  // namespace anesi::python
