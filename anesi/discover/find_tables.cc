#include "anesi/discover/find_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "anesi/core/index.h"

namespace anesi {
namespace {

constexpr std::int64_t kMostEntries = 4096, kMostVariables = 4;
constexpr std::int64_t kTestedTables = 4000, kCorrections = 20;

std::int64_t entries_of(const std::vector<std::int64_t>& variables, const Space& space) {
  std::int64_t entries = 1;
  for (const auto variable : variables) entries *= space.domain(variable);
  return entries;
}

std::string too_many(std::int64_t output, std::size_t variables) {
  return fmt::format("output {} is of {} world variables or more, too many for a table", output, variables);
}

// The table of an output, with the other variables as in some world.
OutputTable ask_for_table(Oracle& oracle, std::int64_t output, const std::vector<std::int64_t>& variables,
                          Values world) {
  Points worlds(entries_of(variables, oracle.worlds()), std::ssize(world));
  for (std::int64_t entry = 0; entry < worlds.size(); ++entry) {
    const auto row = worlds[entry];
    std::ranges::copy(world, row.begin());
    auto rest = entry;
    for (auto variable = variables.rbegin(); variable != variables.rend(); ++variable) {
      const auto domain = oracle.worlds().domain(*variable);
      row[as_size(*variable)] = rest % domain;
      rest /= domain;
    }
  }
  const auto answers = oracle.ask(worlds);
  OutputTable table{.variables = variables, .values = {}};
  for (std::int64_t entry = 0; entry < answers.size(); ++entry) {
    table.values.push_back(static_cast<std::int32_t>(answers[entry][as_size(output)]));
  }
  return table;
}

// A variable, not one of those, that changes the output between two worlds which agree on those: by halving.
std::int64_t find_missing(Oracle& oracle, std::int64_t output, Values one, Values other,
                          const std::vector<std::int64_t>& known) {
  std::vector<std::int64_t> rest;
  for (std::int64_t variable = 0; variable < std::ssize(one); ++variable) {
    if (std::ranges::find(known, variable) == known.end() && one[as_size(variable)] != other[as_size(variable)]) {
      rest.push_back(variable);
    }
  }
  const auto value = [&](Values world) { return oracle.ask({world.data(), 1, std::ssize(world)})[0][as_size(output)]; };
  const auto before = value(one);
  // With the first `same` of the rest as in the other world the output is as before, with `changed` of them it is not.
  std::size_t same = 0, changed = rest.size();
  while (changed - same > 1) {
    const auto middle = (same + changed) / 2;
    std::vector<std::int64_t> world(one.begin(), one.end());
    for (std::size_t place = 0; place < middle; ++place) world[as_size(rest[place])] = other[as_size(rest[place])];
    (value(world) == before ? same : changed) = middle;
  }
  return rest[changed - 1];
}

// Of each output, the first row in which two batches differ; none where they agree.
std::vector<std::optional<std::int64_t>> first_differences(PointRows one, PointRows other) {
  std::vector<std::optional<std::int64_t>> rows(as_size(one.width()));
  for (std::int64_t row = 0; row < one.size(); ++row) {
    for (std::size_t output = 0; output < rows.size(); ++output) {
      if (!rows[output] && one[row][output] != other[row][output]) rows[output] = row;
    }
  }
  return rows;
}

}  // namespace

FoundTables find_tables(Oracle& oracle, const Matrix<double>& influence, const DrawWorlds& draw, Random& random) {
  const auto& space = oracle.worlds();
  const auto outputs = oracle.outputs().variables();
  std::vector<std::vector<std::int64_t>> variables(as_size(outputs));
  for (std::int64_t output = 0; output < outputs; ++output) {
    auto& own = variables[as_size(output)];
    for (std::int64_t variable = 0; variable < space.variables(); ++variable) {
      if (influence[variable][as_size(output)] > 0) own.push_back(variable);
    }
    if (std::ssize(own) > kMostVariables || entries_of(own, space) > kMostEntries) {
      return {nullptr, too_many(output, own.size())};
    }
  }
  const auto background = draw(1, random);
  auto tables = std::make_shared<OutputTables>();
  for (std::int64_t output = 0; output < outputs; ++output) {
    tables->tables.push_back(ask_for_table(oracle, output, variables[as_size(output)], background[0]));
  }
  // Where a table and c differ, some variable is missing from it: the world agrees with one that the table was asked
  // about in all others.
  for (std::int64_t round = 0; round < kCorrections; ++round) {
    const auto worlds = draw(kTestedTables, random);
    const auto wrong = first_differences(look_up(*tables, worlds, space), oracle.ask(worlds));
    if (std::ranges::none_of(wrong, [](const auto& row) { return row.has_value(); })) return {tables, ""};
    for (std::int64_t output = 0; output < outputs; ++output) {
      if (!wrong[as_size(output)]) continue;
      auto& own = variables[as_size(output)];
      const auto world = worlds[*wrong[as_size(output)]];
      std::vector<std::int64_t> asked(background[0].begin(), background[0].end());
      for (const auto variable : own) asked[as_size(variable)] = world[as_size(variable)];
      own.push_back(find_missing(oracle, output, asked, world, own));
      std::ranges::sort(own);
      if (std::ssize(own) > kMostVariables || entries_of(own, space) > kMostEntries) {
        return {nullptr, too_many(output, own.size())};
      }
      tables->tables[as_size(output)] = ask_for_table(oracle, output, own, background[0]);
    }
  }
  return {nullptr, fmt::format("tables still differed from c after {} corrections", kCorrections)};
}

std::optional<VariablePairs> pairs_of(const OutputTables& tables) {
  VariablePairs pairs;
  for (const auto& table : tables.tables) {
    if (table.variables.size() != 2) return std::nullopt;
    pairs.pairs.push_back({table.variables[0], table.variables[1]});
  }
  return pairs;
}

}  // namespace anesi
