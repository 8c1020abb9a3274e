#include "anesi/search/sat_pruner.h"

#include <algorithm>
#include <optional>

#include "anesi/core/error.h"
#include "anesi/logic/sat.h"

namespace anesi {
namespace {

// The worlds in which some clause is false.
std::vector<std::vector<int>> violations_of(const Cnf& cnf) {
  Cnf violations(cnf.encoding(), cnf.variables(), {});
  std::vector<int> some_is_false;
  for (const auto& clause : cnf.clauses()) {
    const auto is_false = some_is_false.emplace_back(violations.fresh_variable());
    for (const auto literal : clause) violations.add({-is_false, -literal});
  }
  violations.add(some_is_false);
  for (const auto& literals : cnf.encoding().worlds) violations.exactly_one(literals);
  return violations.clauses();
}

// Whether each variable of the formula is a value of some world variable.
bool all_of_worlds(const Cnf& cnf) {
  const auto of_world = cnf.encoding().of_worlds(cnf.variables());
  return std::find(of_world.begin() + 1, of_world.end(), false) == of_world.end();
}

class SatPruner final : public Pruner {
 public:
  SatPruner(Cnf cnf, Space worlds, Space outputs)
      : cnf_(std::move(cnf)), worlds_(std::move(worlds)), outputs_(std::move(outputs)), models_(cnf_.clauses()) {
    if (!models_.satisfiable()) throw Error("SAT pruner: the problem's formula has no model");
    if (is_constraint() && all_of_worlds(cnf_)) violations_.emplace(violations_of(cnf_));
  }

  void allow_outputs(Values partial, std::int64_t variable, Mask mask) const override {
    if (is_constraint()) {
      mask[1] = true;
      mask[0] = !violations_ || violations_->satisfiable();
      return;
    }
    std::vector<int> assumptions;
    const auto output_literal = [&](auto i, auto value) { return cnf_.output(i, value); };
    if (!assume(assumptions, partial, variable, outputs_, output_literal)) return;
    ask(models_, assumptions, mask, [&](auto value) { return cnf_.output(variable, value); });
  }

  void allow_worlds(Values output, Values partial, std::int64_t variable, Mask mask) const override {
    std::vector<int> assumptions;
    const auto output_literal = [&](auto i, auto value) { return cnf_.output(i, value); };
    const auto world_literal = [&](auto i, auto value) { return cnf_.world(i, value); };
    if (!is_constraint() && !assume(assumptions, output, -1, outputs_, output_literal)) return;
    if (!assume(assumptions, partial, variable, worlds_, world_literal)) return;
    if (is_constraint() && (output[0] == kUnset || (output[0] == 0 && !violations_))) {
      std::ranges::fill(mask, true);
      return;
    }
    const auto& solvers = is_constraint() && output[0] == 0 ? *violations_ : models_;
    ask(solvers, assumptions, mask, [&](auto value) { return cnf_.world(variable, value); });
  }

  // Where a constraint has variables of its own, which worlds violate it is not known.
  bool is_exact() const override { return !is_constraint() || violations_; }

 private:
  bool is_constraint() const { return cnf_.encoding().is_constraint(); }

  // What is chosen already, except the variable that is asked about. False where a value is none of its variable's.
  template <typename Literal>
  static bool assume(std::vector<int>& assumptions, Values values, std::int64_t except, const Space& space,
                     Literal literal) {
    for (std::int64_t variable = 0; variable < static_cast<std::int64_t>(values.size()); ++variable) {
      const auto value = values[static_cast<std::size_t>(variable)];
      if (variable == except || value == kUnset) continue;
      if (value < 0 || value >= space.domain(variable)) return false;
      assumptions.push_back(literal(variable, value));
    }
    return true;
  }

  template <typename Literal>
  static void ask(const SatSolvers& solvers, const std::vector<int>& assumptions, Mask mask, Literal literal) {
    for (std::int64_t value = 0; value < static_cast<std::int64_t>(mask.size()); ++value) {
      mask[static_cast<std::size_t>(value)] = solvers.satisfiable(assumptions, literal(value));
    }
  }

  Cnf cnf_;
  Space worlds_, outputs_;
  SatSolvers models_;
  std::optional<SatSolvers> violations_;  // of a constraint without variables of its own
};

}  // namespace

std::unique_ptr<Pruner> make_sat_pruner(const Cnf& cnf, const Space& worlds, const Space& outputs) {
  return std::make_unique<SatPruner>(cnf, worlds, outputs);
}

bool is_satisfiable(const Cnf& cnf) { return SatSolvers(cnf.clauses()).satisfiable(); }

std::unique_ptr<Pruner> make_sat_pruner(const Problem& problem) {
  const auto* const cnf = problem.facts().find<Cnf>();
  if (cnf == nullptr) throw Error("SAT pruner: the problem gives no formula (a fact of type Cnf)");
  return make_sat_pruner(*cnf, problem.worlds(), problem.outputs());
}

}  // namespace anesi
