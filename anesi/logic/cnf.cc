#include "anesi/logic/cnf.h"

#include <fmt/format.h>

#include <cstdlib>

#include "anesi/core/error.h"

namespace anesi {
namespace {

std::vector<std::int64_t> domains_of(const Encoding::Literals& literals) {
  std::vector<std::int64_t> domains;
  for (const auto& values : literals) domains.push_back(static_cast<std::int64_t>(values.size()));
  return domains;
}

}  // namespace

bool Encoding::fits(const Space& world_space, const Space& output_space) const {
  const auto output_domains = is_constraint() ? std::vector<std::int64_t>{2} : domains_of(outputs);
  return domains_of(worlds) == world_space.domains() && output_domains == output_space.domains();
}

std::vector<bool> Encoding::of_worlds(int variables) const {
  std::vector<bool> of_world(static_cast<std::size_t>(variables) + 1, false);
  for (const auto& literals : worlds) {
    for (const auto literal : literals) of_world[static_cast<std::size_t>(std::abs(literal))] = true;
  }
  return of_world;
}

Space space_of(const Encoding::Literals& literals) { return Space(domains_of(literals)); }

void read_values(const Encoding::Literals& literals, const std::vector<bool>& model, std::int64_t* values) {
  for (std::size_t variable = 0; variable < literals.size(); ++variable) {
    for (std::size_t value = 0; value < literals[variable].size(); ++value) {
      const auto literal = literals[variable][value];
      if (model[static_cast<std::size_t>(std::abs(literal))] == (literal > 0)) {
        values[variable] = static_cast<std::int64_t>(value);
      }
    }
  }
}

Cnf::Cnf(const Space& worlds, const Space& outputs) {
  encoding_.worlds = add_space(worlds);
  encoding_.outputs = add_space(outputs);
}

void Cnf::add(std::vector<int> clause) {
  for (const auto literal : clause) {
    if (literal != 0 && literal >= -variables_ && literal <= variables_) continue;
    throw UsageError(fmt::format("clause: there is no literal {}; the formula has {} variables", literal, variables_));
  }
  clauses_.push_back(std::move(clause));
}

void Cnf::exactly_one(const std::vector<int>& literals) {
  add(literals);
  for (std::size_t first = 0; first < literals.size(); ++first) {
    for (auto second = first + 1; second < literals.size(); ++second) add({-literals[first], -literals[second]});
  }
}

std::vector<int> Cnf::further_variables() const {
  auto named = encoding_.of_worlds(variables_);
  for (const auto& literals : encoding_.outputs) {
    for (const auto literal : literals) named[static_cast<std::size_t>(std::abs(literal))] = true;
  }
  std::vector<int> further;
  for (int variable = 1; variable <= variables_; ++variable) {
    if (!named[static_cast<std::size_t>(variable)]) further.push_back(variable);
  }
  return further;
}

Encoding::Literals Cnf::add_space(const Space& space) {
  Encoding::Literals literals;
  for (const auto domain : space.domains()) {
    auto& values = literals.emplace_back();
    if (domain == 2) {
      const auto variable = fresh_variable();
      values = {-variable, variable};
      continue;
    }
    for (std::int64_t value = 0; value < domain; ++value) values.push_back(fresh_variable());
    exactly_one(values);
  }
  return literals;
}

}  // namespace anesi
