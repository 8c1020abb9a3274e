#include "anesi/pruners/sat_pruner.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "anesi/core/error.h"

#ifdef ANESI_WITH_CADICAL
#include <cadical.hpp>
#endif

namespace anesi {

#ifdef ANESI_WITH_CADICAL

namespace {

constexpr int kSatisfiable = 10;  // CaDiCaL's answers, as in the SAT competitions

// Solvers of one formula. One is lent for as long as a question takes; those that are not in use wait for the next.
class Solvers {
 public:
  explicit Solvers(std::vector<std::vector<int>> clauses) : clauses_(std::move(clauses)) {}

  // Whether some model makes all of these literals true.
  bool agree_on(const std::vector<int>& assumptions, int one_more) const {
    const Borrowed solver(*this);
    for (const auto assumption : assumptions) solver->assume(assumption);
    if (one_more != 0) solver->assume(one_more);
    return solver->solve() == kSatisfiable;
  }

 private:
  class Borrowed {
   public:
    explicit Borrowed(const Solvers& owner) : owner_(owner) {
      {
        const std::lock_guard lock(owner_.mutex_);
        if (!owner_.idle_.empty()) {
          solver_ = std::move(owner_.idle_.back());
          owner_.idle_.pop_back();
          return;
        }
      }
      solver_ = std::make_unique<CaDiCaL::Solver>();
      for (const auto& clause : owner_.clauses_) {
        for (const auto literal : clause) solver_->add(literal);
        solver_->add(0);
      }
    }
    ~Borrowed() {
      const std::lock_guard lock(owner_.mutex_);
      owner_.idle_.push_back(std::move(solver_));
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    CaDiCaL::Solver* operator->() const { return solver_.get(); }

   private:
    const Solvers& owner_;
    std::unique_ptr<CaDiCaL::Solver> solver_;
  };

  std::vector<std::vector<int>> clauses_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<CaDiCaL::Solver>> idle_;
};

// That some clause is false.
std::vector<std::vector<int>> negation_of(Cnf cnf) {
  std::vector<std::vector<int>> clauses;
  std::vector<int> some_is_false;
  for (const auto& clause : cnf.clauses()) {
    const auto is_false = some_is_false.emplace_back(cnf.fresh_variable());
    for (const auto literal : clause) clauses.push_back({-is_false, -literal});
  }
  clauses.push_back(some_is_false);
  return clauses;
}

// Whether each variable of the formula is a value of some world variable.
bool all_of_worlds(const Cnf& cnf) {
  std::vector<bool> of_world(static_cast<std::size_t>(cnf.variables()) + 1, false);
  for (const auto& literals : cnf.encoding().worlds) {
    for (const auto literal : literals) of_world[static_cast<std::size_t>(std::abs(literal))] = true;
  }
  return std::find(of_world.begin() + 1, of_world.end(), false) == of_world.end();
}

class SatPruner final : public Pruner {
 public:
  SatPruner(Cnf cnf, Space worlds, Space outputs)
      : cnf_(std::move(cnf)), worlds_(std::move(worlds)), outputs_(std::move(outputs)), models_(cnf_.clauses()) {
    if (!models_.agree_on({}, 0)) throw Error("SAT pruner: the problem's formula has no model");
    if (is_constraint() && all_of_worlds(cnf_)) violations_.emplace(negation_of(cnf_));
  }

  void allow_outputs(Values partial, std::int64_t variable, Mask mask) const override {
    if (is_constraint()) {
      mask[1] = true;
      mask[0] = !violations_ || violations_->agree_on({}, 0);
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
  static void ask(const Solvers& solvers, const std::vector<int>& assumptions, Mask mask, Literal literal) {
    for (std::int64_t value = 0; value < static_cast<std::int64_t>(mask.size()); ++value) {
      mask[static_cast<std::size_t>(value)] = solvers.agree_on(assumptions, literal(value));
    }
  }

  Cnf cnf_;
  Space worlds_, outputs_;
  Solvers models_;
  std::optional<Solvers> violations_;  // of a constraint without variables of its own
};

}  // namespace

std::unique_ptr<Pruner> make_sat_pruner(const Cnf& cnf, const Space& worlds, const Space& outputs) {
  return std::make_unique<SatPruner>(cnf, worlds, outputs);
}

bool is_satisfiable(const Cnf& cnf) { return Solvers(cnf.clauses()).agree_on({}, 0); }

#else

bool is_satisfiable(const Cnf&) { throw Error("asking a SAT solver needs CaDiCaL, and anesi was built without it"); }

std::unique_ptr<Pruner> make_sat_pruner(const Cnf&, const Space&, const Space&) {
  throw Error("the SAT pruner needs CaDiCaL, and anesi was built without it");
}

#endif

std::unique_ptr<Pruner> make_sat_pruner(const Problem& problem) {
  const auto* const cnf = problem.facts().find<Cnf>();
  if (cnf == nullptr) throw Error("SAT pruner: the problem gives no formula (a fact of type Cnf)");
  return make_sat_pruner(*cnf, problem.worlds(), problem.outputs());
}

}  // namespace anesi
