#include "anesi/discover/cnf_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "anesi/core/build.h"
#include "anesi/core/index.h"
#include "anesi/logic/sat.h"

namespace anesi {
namespace {

using Clauses = std::vector<std::vector<int>>;

constexpr const char* kFormula = "formula";
constexpr std::int64_t kFree = 8;  // world variables that the formula may choose for an output

// What a formula says of worlds, one at a time.
class Saying {
 public:
  explicit Saying(const Cnf& cnf) : cnf_(cnf), models_(cnf.clauses()), twins_(with_twin(cnf)) {}

  // The output of a world; empty where the formula gives it none.
  std::optional<std::vector<std::int64_t>> output(Values world) const {
    if (cnf_.encoding().is_constraint())
      return std::vector<std::int64_t>{models_.satisfiable(literals_of(world)) ? 1 : 0};
    const auto model = models_.model(literals_of(world), cnf_.variables());
    if (model.empty()) return std::nullopt;
    std::vector<std::int64_t> output(cnf_.encoding().outputs.size(), kNone);  // no value: past its end
    read_values(cnf_.encoding().outputs, model, output.data());
    return output;
  }

  // Whether two models differ anywhere that both have this world.
  bool has_two_models(Values world) const {
    auto assumptions = literals_of(world);
    for (const auto literal : literals_of(world)) assumptions.push_back(twin(literal));
    return twins_.satisfiable(assumptions);
  }

  // A world that gives the output and agrees with `world` but in a few variables, from `first` on.
  std::optional<std::vector<std::int64_t>> world_near(Values world, Values output, std::int64_t first) const {
    const auto variables = static_cast<std::int64_t>(world.size());
    std::vector<int> assumptions;
    for (std::int64_t place = kFree; place < variables; ++place) {
      const auto variable = (first + place) % variables;
      assumptions.push_back(cnf_.world(variable, world[as_size(variable)]));
    }
    if (!cnf_.encoding().is_constraint()) {
      for (std::size_t variable = 0; variable < output.size(); ++variable) {
        if (output[variable] == kNone) continue;
        assumptions.push_back(cnf_.output(static_cast<std::int64_t>(variable), output[variable]));
      }
    }
    const auto model = models_.model(assumptions, cnf_.variables());
    if (model.empty()) return std::nullopt;
    std::vector<std::int64_t> found(world.size());
    read_values(cnf_.encoding().worlds, model, found.data());
    return found;
  }

 private:
  int twin(int literal) const { return literal > 0 ? literal + cnf_.variables() : literal - cnf_.variables(); }

  // The formula and again with other names for its variables, and that some variable differs from its namesake.
  Clauses with_twin(const Cnf& cnf) const {
    auto clauses = cnf.clauses();
    for (const auto& clause : cnf.clauses()) {
      auto& again = clauses.emplace_back(clause);
      for (auto& literal : again) literal = twin(literal);
    }
    std::vector<int> some;
    for (int variable = 1; variable <= cnf.variables(); ++variable) {
      const auto differs = some.emplace_back(2 * cnf.variables() + variable);
      clauses.push_back({-differs, variable, twin(variable)});
      clauses.push_back({-differs, -variable, twin(-variable)});
    }
    clauses.push_back(std::move(some));
    return clauses;
  }

  std::vector<int> literals_of(Values world) const {
    std::vector<int> literals;
    for (std::size_t variable = 0; variable < world.size(); ++variable) {
      literals.push_back(cnf_.world(static_cast<std::int64_t>(variable), world[variable]));
    }
    return literals;
  }

  const Cnf& cnf_;
  SatSolvers models_, twins_;
};

bool has_literals_outside(const Cnf& cnf) {
  const auto inside = [&](const std::vector<int>& literals) {
    return std::ranges::all_of(literals, [&](int literal) {
      return literal != 0 && literal >= -cnf.variables() && literal <= cnf.variables();
    });
  };
  const auto& encoding = cnf.encoding();
  return !std::ranges::all_of(cnf.clauses(), inside) || !std::ranges::all_of(encoding.worlds, inside) ||
         !std::ranges::all_of(encoding.outputs, inside);
}

Finding other_output(Values world, const std::optional<std::vector<std::int64_t>>& said, Values expected) {
  return {kFormula, false,
          fmt::format("gives {} for the world ({}), and the function ({})",
                      said ? fmt::format("({})", fmt::join(*said, ", ")) : "no output", fmt::join(world, ", "),
                      fmt::join(expected, ", "))};
}

}  // namespace

Finding check_cnf(const Problem& problem, const Cnf& cnf, PointRows worlds, PointRows outputs) {
  if (!cnf.encoding().fits(problem.worlds(), problem.outputs())) {
    return {kFormula, false, "is over other worlds or outputs than the problem's"};
  }
  if (has_literals_outside(cnf)) return {kFormula, false, "has literals of variables that it does not have"};
  if (!this_build().cadical) return {kFormula, true, "not compared with c: anesi was built without CaDiCaL"};
  const Saying formula(cnf);
  Points near(worlds.size(), worlds.width());  // worlds that the formula finds
  std::vector<std::int64_t> of_rows;           // for the outputs of these
  for (std::int64_t row = 0; row < worlds.size(); ++row) {
    const auto world = worlds[row], expected = outputs[row];
    const auto said = formula.output(world);
    if (!said || !std::ranges::equal(*said, expected)) return other_output(world, said, expected);
    if (formula.has_two_models(world)) {
      return {kFormula, false,
              fmt::format("has several models for the world ({}): each would be counted", fmt::join(world, ", "))};
    }
    if (const auto found = formula.world_near(world, expected, row)) {
      std::ranges::copy(*found, near[std::ssize(of_rows)].begin());
      of_rows.push_back(row);
    }
  }
  const auto found = near.rows().slice(0, std::ssize(of_rows));
  const auto given = apply(problem, found);
  const std::vector<std::int64_t> satisfied{1};
  for (std::int64_t row = 0; row < found.size(); ++row) {
    const auto said = cnf.encoding().is_constraint() ? Values(satisfied) : outputs[of_rows[as_size(row)]];
    if (!std::ranges::equal(given[row], said)) {
      return other_output(found[row], std::vector<std::int64_t>(said.begin(), said.end()), given[row]);
    }
  }
  return {kFormula, true, fmt::format("agrees with c on {} worlds", worlds.size() + found.size())};
}

DistanceBound certify_cnf(const Problem& problem, const Cnf& cnf, const WorldSource& source, std::int64_t draws,
                          Random& random) {
  const auto worlds = source.draw(draws, random), outputs = apply(problem, worlds);
  const Saying formula(cnf);
  DistanceBound certificate{.draws = draws, .beliefs = source.name};
  for (std::int64_t row = 0; row < draws; ++row) {
    const auto said = formula.output(worlds[row]);
    if (!said || !std::ranges::equal(*said, outputs[row])) ++certificate.differing;
  }
  certificate.bound = upper_bound_of_share(certificate.differing, draws, certificate.level);
  return certificate;
}

}  // namespace anesi
