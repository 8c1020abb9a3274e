#include "anesi/discover/find_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "anesi/core/index.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"

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
                          const torch::Tensor& world) {
  std::vector<std::int64_t> domains;
  for (const auto variable : variables) domains.push_back(oracle.worlds().domain(variable));
  auto worlds = world.repeat({entries_of(variables, oracle.worlds()), 1});
  if (!variables.empty()) worlds.index_copy_(1, tensor_of(variables), points_of(Space(domains)));
  const auto answers = values_of(oracle.ask(worlds).select(1, output));
  return {variables, {answers.begin(), answers.end()}};
}

// A variable, not one of those, that changes the output between two worlds which agree on those: by halving.
std::int64_t find_missing(Oracle& oracle, std::int64_t output, const torch::Tensor& one, const torch::Tensor& other,
                          const std::vector<std::int64_t>& known) {
  std::vector<std::int64_t> rest;
  for (std::int64_t variable = 0; variable < one.size(0); ++variable) {
    if (std::ranges::find(known, variable) == known.end() &&
        one[variable].item<std::int64_t>() != other[variable].item<std::int64_t>()) {
      rest.push_back(variable);
    }
  }
  const auto value = [&](const torch::Tensor& world) {
    return oracle.ask(world.unsqueeze(0))[0][output].item<std::int64_t>();
  };
  const auto before = value(one);
  // With the first `same` of the rest as in the other world the output is as before, with `changed` of them it is not.
  std::size_t same = 0, changed = rest.size();
  while (changed - same > 1) {
    const auto middle = (same + changed) / 2;
    auto world = one.clone();
    for (std::size_t place = 0; place < middle; ++place) world[rest[place]] = other[rest[place]];
    (value(world) == before ? same : changed) = middle;
  }
  return rest[changed - 1];
}

}  // namespace

FoundTables find_tables(Oracle& oracle, const torch::Tensor& influence, const DrawWorlds& draw,
                        const at::Generator& generator) {
  const auto& space = oracle.worlds();
  const auto outputs = oracle.outputs().variables();
  std::vector<std::vector<std::int64_t>> variables(as_size(outputs));
  for (std::int64_t output = 0; output < outputs; ++output) {
    variables[as_size(output)] = values_of((influence.select(1, output) > 0).nonzero().squeeze(1));
    const auto& own = variables[as_size(output)];
    if (static_cast<std::int64_t>(own.size()) > kMostVariables || entries_of(own, space) > kMostEntries) {
      return {nullptr, too_many(output, own.size())};
    }
  }
  const auto background = draw(1, generator)[0];
  auto tables = std::make_shared<OutputTables>();
  for (std::int64_t output = 0; output < outputs; ++output) {
    tables->tables.push_back(ask_for_table(oracle, output, variables[as_size(output)], background));
  }
  // Where a table and c differ, some variable is missing from it: the world agrees with one that the table was asked
  // about in all others.
  for (std::int64_t round = 0; round < kCorrections; ++round) {
    const auto worlds = draw(kTestedTables, generator);
    const auto wrong = look_up(*tables, worlds, space) != oracle.ask(worlds);
    const auto outputs_wrong = values_of(wrong.any(0).nonzero().squeeze(1));
    if (outputs_wrong.empty()) return {tables, ""};
    for (const auto output : outputs_wrong) {
      auto& own = variables[as_size(output)];
      const auto world = worlds[wrong.select(1, output).nonzero()[0][0].item<std::int64_t>()];
      auto asked = background.clone();
      for (const auto variable : own) asked[variable] = world[variable];
      own.push_back(find_missing(oracle, output, asked, world, own));
      std::ranges::sort(own);
      if (static_cast<std::int64_t>(own.size()) > kMostVariables || entries_of(own, space) > kMostEntries) {
        return {nullptr, too_many(output, own.size())};
      }
      tables->tables[as_size(output)] = ask_for_table(oracle, output, own, background);
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
