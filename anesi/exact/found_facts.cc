#include "anesi/exact/found_facts.h"

#include <fmt/format.h>

#include <span>

#include "anesi/core/error.h"
#include "anesi/core/output_tables.h"
#include "anesi/core/reading_order.h"
#include "anesi/core/variable_pairs.h"
#include "anesi/exact/automaton.h"
#include "anesi/exact/saved_formula.h"

namespace anesi {
namespace {

template <typename T>
std::span<const T> numbers_of(const NamedArrays& arrays, const std::string& name) {
  const auto place = arrays.find(name);
  if (place == arrays.end()) throw Error("found facts: " + name + " is missing; the file is damaged");
  if (place->second.type() != number_type<T>() || place->second.dimensions() != 1) {
    throw Error("found facts: " + name + " is of another type or shape; the file is damaged");
  }
  return place->second.values<T>();
}

std::vector<std::int64_t> numbers(const NamedArrays& arrays, const std::string& name) {
  const auto found = numbers_of<std::int64_t>(arrays, name);
  return {found.begin(), found.end()};
}

std::vector<std::int32_t> small_numbers(const NamedArrays& arrays, const std::string& name) {
  const auto found = numbers_of<std::int32_t>(arrays, name);
  return {found.begin(), found.end()};
}

template <typename T>
Array array_of(const std::vector<T>& numbers) {
  return Array::of<T>({std::ssize(numbers)}, numbers);
}

// Steps as rows of numbers: kind, what is emitted or kNone, how many are read, which.
void save_reading(const ReadingOrder& reading, NamedArrays& arrays) {
  std::vector<std::int64_t> steps;
  for (const auto& step : reading.steps()) {
    steps.insert(steps.end(), {step.kind, step.emits.value_or(kNone), static_cast<std::int64_t>(step.reads.size())});
    steps.insert(steps.end(), step.reads.begin(), step.reads.end());
  }
  arrays["reading.steps"] = array_of(steps);
}

ReadingOrder load_reading(const NamedArrays& arrays, const Problem& problem) {
  const auto numbers_of_steps = numbers(arrays, "reading.steps");
  std::vector<ReadingStep> steps;
  for (std::size_t place = 0; place < numbers_of_steps.size();) {
    if (place + 3 > numbers_of_steps.size()) throw Error("found facts: a step is cut short; the file is damaged");
    ReadingStep step;
    step.kind = numbers_of_steps[place];
    if (numbers_of_steps[place + 1] != kNone) step.emits = numbers_of_steps[place + 1];
    const auto reads = numbers_of_steps[place + 2];
    place += 3;
    if (reads < 0 || static_cast<std::size_t>(reads) > numbers_of_steps.size() - place) {
      throw Error("found facts: a step is cut short; the file is damaged");
    }
    const auto begin = numbers_of_steps.begin() + static_cast<std::ptrdiff_t>(place);
    step.reads.assign(begin, begin + reads);
    place += static_cast<std::size_t>(reads);
    steps.push_back(std::move(step));
  }
  return {problem.worlds(), problem.outputs(), std::move(steps)};
}

void save_automaton(const Automaton& automaton, NamedArrays& arrays) {
  save_reading(automaton.reading(), arrays);
  arrays["automaton.start"] = array_of(std::vector{automaton.start()});
  for (std::int64_t kind = 0; kind < automaton.reading().kinds(); ++kind) {
    const auto& table = automaton.table(kind);
    const auto prefix = fmt::format("automaton.{}.", kind);
    arrays[prefix + "states"] = array_of(std::vector{table.states, table.next_states});
    arrays[prefix + "emits"] = array_of(table.emits);
    arrays[prefix + "next"] = array_of(table.next);
  }
}

Automaton load_automaton(const NamedArrays& arrays, const Problem& problem) {
  auto reading = load_reading(arrays, problem);
  std::vector<Automaton::Table> tables;
  for (std::int64_t kind = 0; kind < reading.kinds(); ++kind) {
    const auto prefix = fmt::format("automaton.{}.", kind);
    const auto states = numbers(arrays, prefix + "states");
    if (states.size() != 2) throw Error("found facts: " + prefix + "states is damaged");
    tables.push_back(
        {states[0], states[1], small_numbers(arrays, prefix + "emits"), small_numbers(arrays, prefix + "next")});
  }
  const auto start = numbers(arrays, "automaton.start");
  if (start.size() != 1) throw Error("found facts: automaton.start is damaged");
  return {std::move(reading), std::move(tables), start[0]};
}

// One row of numbers for the variables of all tables, each after how many they are; one for all values.
void save_tables(const OutputTables& tables, NamedArrays& arrays) {
  std::vector<std::int64_t> variables;
  std::vector<std::int32_t> values;
  for (const auto& table : tables.tables) {
    variables.push_back(static_cast<std::int64_t>(table.variables.size()));
    variables.insert(variables.end(), table.variables.begin(), table.variables.end());
    values.insert(values.end(), table.values.begin(), table.values.end());
  }
  arrays["tables.variables"] = array_of(variables);
  arrays["tables.values"] = array_of(values);
}

OutputTables load_tables(const NamedArrays& arrays, const Problem& problem) {
  const auto variables = numbers(arrays, "tables.variables");
  const auto values = small_numbers(arrays, "tables.values");
  OutputTables result;
  std::size_t variable = 0, value = 0;
  for (std::int64_t output = 0; output < problem.outputs().variables(); ++output) {
    OutputTable table;
    std::size_t entries = 1;
    const auto count = variable < variables.size() ? variables[variable++] : -1;
    for (std::int64_t place = 0; place < count && variable < variables.size(); ++place) {
      table.variables.push_back(variables[variable++]);
      if (table.variables.back() < 0 || table.variables.back() >= problem.worlds().variables()) break;
      entries *= static_cast<std::size_t>(problem.worlds().domain(table.variables.back()));
      if (entries > values.size()) break;
    }
    if (count < 0 || static_cast<std::int64_t>(table.variables.size()) != count || value + entries > values.size()) {
      throw Error("found facts: the tables are damaged");
    }
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(value);
    table.values.assign(begin, begin + static_cast<std::ptrdiff_t>(entries));
    for (const auto said : table.values) {
      if (said < 0 || said >= problem.outputs().domain(output)) throw Error("found facts: the tables are damaged");
    }
    value += entries;
    result.tables.push_back(std::move(table));
  }
  return result;
}

}  // namespace

NamedArrays found_facts_of(const Problem& problem) {
  NamedArrays arrays;
  const auto* const found = problem.facts().find<FoundFacts>();
  if (found == nullptr) return arrays;
  if (found->automaton) {
    save_automaton(*problem.facts().find<Automaton>(), arrays);
  } else if (found->reading) {
    save_reading(*problem.facts().find<ReadingOrder>(), arrays);
  }
  if (found->tables) save_tables(*problem.facts().find<OutputTables>(), arrays);
  if (found->formula) save_formula(problem, arrays);
  return arrays;
}

std::shared_ptr<const Problem> with_found_facts(std::shared_ptr<const Problem> problem, const NamedArrays& saved,
                                                const std::string& summary) {
  if (saved.empty()) return problem;
  auto facts = problem->facts();
  FoundFacts found{.summary = summary};
  if ((found.automaton = saved.contains("automaton.start"))) {
    facts.with(load_automaton(saved, *problem));
  } else if ((found.reading = saved.contains("reading.steps"))) {
    facts.with(load_reading(saved, *problem));
  }
  if ((found.tables = saved.contains("tables.values"))) facts.with(load_tables(saved, *problem));
  load_formula(saved, problem->worlds(), problem->outputs(), facts);
  facts.with(found);
  return with_facts(std::move(problem), std::move(facts));
}

}  // namespace anesi
