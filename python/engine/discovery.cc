// Structure found by querying the function, and how far it may be from it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "anesi/core/variable_pairs.h"
#include "anesi/discover/cnf_check.h"
#include "anesi/discover/discover.h"
#include "anesi/discover/find_tables.h"
#include "anesi/discover/orders.h"
#include "anesi/exact/found_facts.h"
#include "anesi/logic/cnf.h"
#include "arrays.h"
#include "bind.h"
#include "computing.h"

namespace anesi::python {
namespace {

using Settings = std::vector<std::string>;

constexpr std::int64_t kMostWorldsSolved = 2000;  // by a SAT solver, one after another

DiscoverOptions options_from(const Settings& settings, std::vector<std::int64_t> order) {
  DiscoverOptions options;
  OptionTable table;
  table.add_group("discover", options);
  for (const auto& setting : settings) table.set(std::string_view(setting));
  options.order = std::move(order);
  return options;
}

// A discovery, and the problem with the facts that it found.
struct Found {
  Discovery discovery;
  std::shared_ptr<const Problem> problem;
};

Found with_facts_of(const std::shared_ptr<const Problem>& problem, Discovery discovery) {
  auto facts = problem->facts();
  if (discovery.automaton) {
    facts.with(discovery.automaton).with(FoundFacts{.automaton = true, .summary = discovery.order_by});
  } else if (discovery.tables) {
    facts.with(discovery.tables).with(FoundFacts{.tables = true, .summary = discovery.reason});
    if (const auto pairs = pairs_of(*discovery.tables)) facts.with(*pairs);
  } else if (discovery.influence.size() > 0 && facts.find<ReadingOrder>() == nullptr) {
    facts.with(reading_by_influence(problem->worlds(), problem->outputs(), discovery.influence));
    facts.with(FoundFacts{.reading = true, .summary = discovery.reason});
  }
  return {std::move(discovery), with_facts(problem, std::move(facts))};
}

Found run(const HeldProblem& held, const Settings& settings, std::vector<std::int64_t> order, std::uint64_t seed,
          const nb::object& say, std::int64_t threads) {
  const auto options = options_from(settings, std::move(order));
  const auto speak = say_to(say);
  return compute(threads,
                 [&] { return with_facts_of(held.problem, discover(*held.problem, options, seed, {}, speak)); });
}

Found run_again(const HeldProblem& held, const Reads<std::int64_t>& worlds, const Settings& settings,
                std::uint64_t seed, std::int64_t threads) {
  const auto automaton = held.problem->facts().share<Automaton>();
  if (!automaton) throw UsageError("discover_again: the problem has no automaton");
  const auto options = options_from(settings, {});
  return compute(threads, [&] {
    const auto rows = rows_of(worlds, held.problem->worlds().variables(), "worlds");
    check_values(rows, held.problem->worlds(), {}, "worlds");
    return with_facts_of(held.problem, discover_again(*held.problem, *automaton, rows, options, seed));
  });
}

nb::object certify(const HeldProblem& held, const std::optional<Reads<double>>& logs, std::int64_t draws,
                   std::uint64_t seed, std::int64_t threads) {
  const auto& worlds = held.problem->worlds();
  const auto bound = compute(threads, [&] {
    const auto source =
        logs ? WorldSource{worlds_of_beliefs(beliefs_of(*logs, worlds, "logs"), worlds), "the beliefs that were given"}
             : WorldSource{mixed_worlds_of(worlds), "beliefs of mixed priors"};
    Random random(seed);
    const auto& problem = *held.problem;
    auto found = certify_facts(problem, source, draws, random);
    const auto* const cnf = problem.facts().find<Cnf>();
    if (!found && cnf != nullptr && this_build().cadical) {
      found = certify_cnf(problem, *cnf, source, std::min(draws, kMostWorldsSolved), random);
    }
    return found;
  });
  return bound_of(bound);
}

// Worlds on which the problem's automaton, or its tables, differ from the function.
Gives<std::int64_t> wrong_worlds(const HeldProblem& held, const Reads<std::int64_t>& worlds, std::int64_t threads) {
  const auto found = compute(threads, [&] {
    const auto& problem = *held.problem;
    const auto rows = rows_of(worlds, problem.worlds().variables(), "worlds");
    check_values(rows, problem.worlds(), {}, "worlds");
    const auto* const automaton = problem.facts().find<Automaton>();
    const auto* const tables = problem.facts().find<OutputTables>();
    if (automaton == nullptr && tables == nullptr) throw UsageError("wrong_worlds: nothing was found to be compared");
    const auto said = automaton != nullptr ? automaton->run(rows) : look_up(*tables, rows, problem.worlds());
    return rows_at(rows, differing_rows(said, apply(problem, rows)));
  });
  return give(found);
}

std::vector<std::tuple<std::string, std::string, std::string, std::string>> option_rows() {
  DiscoverOptions options;
  OptionTable table;
  table.add_group("discover", options);
  std::vector<std::tuple<std::string, std::string, std::string, std::string>> rows;
  for (const auto& row : table.rows()) rows.emplace_back(row.name, row.fallback, row.range, row.help);
  return rows;
}

}  // namespace

nb::object bound_of(const std::optional<DistanceBound>& bound) {
  if (!bound) return nb::none();
  nb::dict said;
  said["bound"] = bound->bound;
  said["level"] = bound->level;
  said["draws"] = bound->draws;
  said["differing"] = bound->differing;
  said["beliefs"] = bound->beliefs;
  return said;
}

void bind_discovery(nb::module_& module) {
  nb::class_<Found>(module, "Discovery")
      .def_prop_ro("problem", [](const Found& found) { return HeldProblem{found.problem}; })
      .def_prop_ro("facts", [](const Found& found) { return dict_of(found_facts_of(*found.problem)); })
      .def_prop_ro("has_automaton", [](const Found& found) { return found.discovery.automaton != nullptr; })
      .def_prop_ro("has_tables", [](const Found& found) { return found.discovery.tables != nullptr; })
      .def_prop_ro("certificate", [](const Found& found) { return bound_of(found.discovery.certificate); })
      .def_prop_ro("order_by", [](const Found& found) { return found.discovery.order_by; })
      .def_prop_ro("reason", [](const Found& found) { return found.discovery.reason; })
      .def_prop_ro(
          "influence", [](const Found& found) { return give(found.discovery.influence); }, nb::rv_policy::automatic)
      .def_prop_ro("calls", [](const Found& found) { return found.discovery.calls; })
      .def_prop_ro("rounds", [](const Found& found) { return found.discovery.rounds; })
      .def_prop_ro("seconds", [](const Found& found) { return found.discovery.seconds; });
  module.def("discover", &run, nb::arg("problem"), nb::kw_only(), nb::arg("settings") = Settings(),
             nb::arg("order") = std::vector<std::int64_t>(), nb::arg("seed") = 0, nb::arg("say") = nb::none(),
             nb::arg("threads") = 0);
  module.def("discover_again", &run_again, nb::arg("problem"), nb::arg("worlds"), nb::kw_only(),
             nb::arg("settings") = Settings(), nb::arg("seed") = 0, nb::arg("threads") = 0);
  module.def("certify", &certify, nb::arg("problem"), nb::arg("logs") = nb::none(), nb::kw_only(),
             nb::arg("draws") = 30000, nb::arg("seed") = 0, nb::arg("threads") = 0);
  module.def("wrong_worlds", &wrong_worlds, nb::arg("problem"), nb::arg("worlds"), nb::kw_only(),
             nb::arg("threads") = 0);
  module.def("discover_options", &option_rows);
}

}  // namespace anesi::python
