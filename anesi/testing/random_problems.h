// Random small problems of every kind that some exact inference serves, with random beliefs and labels for them.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "anesi/core/index.h"
#include "anesi/core/output_tables.h"
#include "anesi/core/problem.h"
#include "anesi/exact/backend.h"
#include "anesi/logic/cnf.h"
#include "anesi/testing/oracle.h"
#include "anesi/testing/random_machine.h"

namespace anesi::toys {

class Chances {
 public:
  explicit Chances(std::uint64_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(engine_) < p; }
  double normal() { return std::normal_distribution<double>()(engine_); }
  template <typename Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[between(0, std::ssize(values) - 1)];
  }

 private:
  std::mt19937_64 engine_;
};

inline Space random_space(Chances& chances, std::int64_t most_variables, std::int64_t largest_domain) {
  std::vector<std::int64_t> domains(as_size(chances.between(1, most_variables)));
  for (auto& domain : domains) domain = chances.between(1, largest_domain);
  return Space(std::move(domains));
}

// A function as the list of its values, in the order of Space::for_each_point.
inline std::shared_ptr<const Problem> problem_of(const Space& worlds, const Space& outputs,
                                                 std::vector<std::vector<std::int64_t>> table) {
  return make_problem(worlds, outputs, [worlds, table = std::move(table)](Values world, MutableValues output) {
    std::int64_t place = 0;
    for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
      place = place * worlds.domain(variable) + world[as_size(variable)];
    }
    std::ranges::copy(table[as_size(place)], output.begin());
  });
}

// Any function at all. Some outputs may end early, and some values may be given by no world. Where none ends early, the
// problem tells a formula that says the same.
inline std::shared_ptr<const Problem> random_function(Chances& chances) {
  const auto worlds = random_space(chances, 4, 4), outputs = random_space(chances, 3, 4);
  const bool ends = outputs.variables() > 1 && chances.chance(0.3);
  std::vector<std::vector<std::int64_t>> table;
  worlds.for_each_point([&](Values) {
    auto& output = table.emplace_back(as_size(outputs.variables()), kNone);
    const auto length = ends ? chances.between(1, outputs.variables()) : outputs.variables();
    for (std::int64_t variable = 0; variable < length; ++variable) {
      output[as_size(variable)] = chances.between(0, outputs.domain(variable) - 1);
    }
  });
  auto problem = problem_of(worlds, outputs, table);
  if (ends) return problem;
  Cnf cnf(worlds, outputs);
  std::size_t row = 0;
  worlds.for_each_point([&](Values world) {
    std::vector<int> unless;
    for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
      unless.push_back(-cnf.world(variable, world[as_size(variable)]));
    }
    for (std::int64_t variable = 0; variable < outputs.variables(); ++variable) {
      auto clause = unless;
      clause.push_back(cnf.output(variable, table[row][as_size(variable)]));
      cnf.add(std::move(clause));
    }
    ++row;
  });
  return with(problem, std::move(cnf));
}

// Outputs of one or two variables each, which tables say; apart, or not.
inline std::shared_ptr<const Problem> random_tables(Chances& chances, bool apart) {
  const auto worlds = random_space(chances, 5, 3);
  std::vector<std::int64_t> left(as_size(worlds.variables()));
  std::iota(left.begin(), left.end(), 0);
  OutputTables tables;
  std::vector<std::int64_t> output_domains;
  for (auto outputs = chances.between(1, 3); outputs > 0 && !left.empty(); --outputs) {
    OutputTable table;
    std::size_t combinations = 1;
    for (auto variables = chances.between(1, 2); variables > 0 && !left.empty(); --variables) {
      const auto place = chances.between(0, std::ssize(left) - 1);
      const auto variable = left[as_size(place)];
      if (std::ranges::find(table.variables, variable) != table.variables.end()) continue;
      table.variables.push_back(variable);
      combinations *= as_size(worlds.domain(variable));
      if (apart) left.erase(left.begin() + place);
    }
    output_domains.push_back(chances.between(1, 3));
    for (std::size_t c = 0; c < combinations; ++c) {
      table.values.push_back(static_cast<std::int32_t>(chances.between(0, output_domains.back() - 1)));
    }
    tables.tables.push_back(std::move(table));
  }
  const auto problem =
      make_problem(worlds, Space(output_domains), [worlds, tables](Values world, MutableValues output) {
        for (std::size_t index = 0; index < output.size(); ++index) {
          std::int64_t place = 0;
          for (const auto variable : tables.tables[index].variables) {
            place = place * worlds.domain(variable) + world[as_size(variable)];
          }
          output[index] = tables.tables[index].values[as_size(place)];
        }
      });
  return with(problem, tables);
}

// A constraint: clauses over variables of two and more values, and hidden variables that they define.
inline std::shared_ptr<const Problem> random_constraint(Chances& chances) {
  Encoding encoding;
  int last = 0;
  std::vector<int> literals;
  std::vector<std::vector<int>> groups;
  for (auto variables = chances.between(1, 5); variables > 0; --variables) {
    const auto domain = chances.between(2, 4);
    if (domain == 2) {
      ++last;
      encoding.worlds.push_back({-last, last});
      literals.insert(literals.end(), {-last, last});
      continue;
    }
    auto& group = encoding.worlds.emplace_back();
    for (std::int64_t value = 0; value < domain; ++value) group.push_back(++last);
    for (const int literal : group) literals.insert(literals.end(), {-literal, literal});
    groups.push_back(group);
  }
  const auto space = space_of(encoding.worlds);
  const auto any_literal = [&] { return literals[as_size(chances.between(0, std::ssize(literals) - 1))]; };
  std::vector<std::vector<int>> clauses;
  for (auto count = chances.between(0, 6); count > 0; --count) {
    auto& clause = clauses.emplace_back();
    for (auto length = chances.between(1, 3); length > 0; --length) clause.push_back(any_literal());
  }
  // A hidden variable is true where both of two literals are.
  if (chances.chance(0.4)) {
    const int one = any_literal(), other = any_literal(), both = ++last;
    for (auto& clause : std::vector<std::vector<int>>{{-both, one}, {-both, other}, {-one, -other, both}}) {
      clauses.push_back(clause);
    }
    if (chances.chance(0.5)) clauses.push_back({chances.chance(0.5) ? both : -both, any_literal()});
  }
  Cnf cnf(encoding, last, clauses);
  for (const auto& group : groups) cnf.exactly_one(group);
  const auto satisfied = [encoding, clauses, last](Values world, MutableValues output) {
    std::vector<bool> truth(as_size(last) + 1, false);
    for (std::size_t variable = 0; variable < world.size(); ++variable) {
      const int literal = encoding.worlds[variable][as_size(world[variable])];
      truth[as_size(std::abs(literal))] = literal > 0;
    }
    // The hidden variable, if there is one, is the last one and may have either value.
    const auto holds = [&](int literal) { return truth[as_size(std::abs(literal))] == (literal > 0); };
    output[0] = 0;
    for (const bool hidden : {false, true}) {
      const bool has_hidden = std::ranges::none_of(encoding.worlds, [&](const auto& values) {
        return std::ranges::any_of(values, [&](int literal) { return std::abs(literal) == last; });
      });
      if (has_hidden) truth[as_size(last)] = hidden;
      if (std::ranges::all_of(clauses, [&](const auto& clause) { return std::ranges::any_of(clause, holds); })) {
        output[0] = 1;
      }
    }
  };
  return with(make_problem(space, Space{2}, satisfied), std::move(cnf));
}

// One of any of these kinds, with the kind's name.
inline std::pair<std::string, std::shared_ptr<const Problem>> random_problem(Chances& chances) {
  switch (chances.between(0, 3)) {
    case 0:
      return {"machine", std::make_shared<RandomMachine>(static_cast<std::uint64_t>(chances.between(0, 1 << 30)))};
    case 1:
      return {"function", random_function(chances)};
    case 2:
      return {"tables", random_tables(chances, /*apart=*/true)};
    default:
      return {"constraint", random_constraint(chances)};
  }
}

// Logits of which the softmax is a belief: gaps from none to a thousand, and values that are impossible.
inline LogBelief random_log_belief(Chances& chances, const Space& worlds) {
  const double gap = chances.one_of({0.0, 1.0, 5.0, 17.0, 40.0, 100.0, 300.0, 800.0, 1000.0});
  const bool impossible_values = chances.chance(0.2);
  LogBelief belief;
  for (const auto domain : worlds.domains()) {
    auto& logs = belief.emplace_back();
    for (std::int64_t value = 0; value < domain; ++value) {
      logs.push_back(gap * static_cast<double>(chances.between(0, 2)) / 2 + (gap > 0 ? chances.normal() : 0));
    }
    if (impossible_values) {
      for (auto& value : logs) {
        if (chances.chance(0.3)) value = Oracle::kNever;
      }
      logs[as_size(chances.between(0, domain - 1))] = 0;
    }
    const double largest = *std::ranges::max_element(logs);
    double sum = 0;
    for (const double value : logs) sum += std::exp(value - largest);
    for (auto& value : logs) value -= largest + std::log(sum);
  }
  return belief;
}

// A label of any kind. Most are possible.
inline Label random_label(Chances& chances, const Oracle& oracle, const Space& outputs) {
  const auto& world = oracle.worlds()[as_size(chances.between(0, std::ssize(oracle.worlds()) - 1))];
  Label label{.output = world.output};
  if (chances.chance(0.1)) {
    for (std::int64_t variable = 0; variable < outputs.variables(); ++variable) {
      label.output[as_size(variable)] = chances.between(0, outputs.domain(variable) - 1);
    }
  }
  label.holds = !chances.chance(0.3);
  if (chances.chance(0.25)) {
    for (auto& value : label.output) {
      if (chances.chance(0.5)) value = kUnset;
    }
  }
  if (chances.chance(0.4)) {
    label.world = world.world;
    if (chances.chance(0.2))
      label.world = oracle.worlds()[as_size(chances.between(0, std::ssize(oracle.worlds()) - 1))].world;
    if (chances.chance(0.7)) {
      for (auto& value : label.world) {
        if (chances.chance(0.5)) value = kUnset;
      }
    }
    if (chances.chance(0.2)) {
      label.output.clear();
      label.holds = true;
    }
  }
  return label;
}

// For people who look into a failure.
inline std::string told(const LogBelief& belief, const Label& label) {
  std::ostringstream text;
  text.precision(17);
  for (const auto& logs : belief) {
    for (const double value : logs) text << value << " ";
    text << "| ";
  }
  text << " output";
  for (const auto value : label.output) text << " " << value;
  text << (label.holds ? " holds, world" : " does not hold, world");
  for (const auto value : label.world) text << " " << value;
  return text.str();
}

}  // namespace anesi::toys
