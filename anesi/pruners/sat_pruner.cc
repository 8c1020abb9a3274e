#include "anesi/pruners/sat_pruner.h"

#include <mutex>

#include "anesi/core/error.h"

#ifdef ANESI_WITH_CADICAL
#include <cadical.hpp>
#endif

namespace anesi {

#ifdef ANESI_WITH_CADICAL

namespace {

constexpr int kSatisfiable = 10;  // CaDiCaL's answers, as in the SAT competitions

class SatPruner final : public Pruner {
 public:
  SatPruner(Cnf cnf, Space worlds, Space outputs)
      : cnf_(std::move(cnf)), worlds_(std::move(worlds)), outputs_(std::move(outputs)) {
    const Borrowed solver(*this);
    if (solver->solve() != kSatisfiable) throw Error("SAT pruner: the problem's formula has no model");
  }

  void allow_outputs(Values partial, std::int64_t variable, Mask mask) const override {
    std::vector<int> assumptions;
    const auto output_literal = [&](auto i, auto value) { return cnf_.output(i, value); };
    if (!assume(assumptions, partial, variable, outputs_, output_literal)) return;
    ask(assumptions, mask, [&](auto value) { return cnf_.output(variable, value); });
  }

  void allow_worlds(Values output, Values partial, std::int64_t variable, Mask mask) const override {
    std::vector<int> assumptions;
    const auto output_literal = [&](auto i, auto value) { return cnf_.output(i, value); };
    const auto world_literal = [&](auto i, auto value) { return cnf_.world(i, value); };
    if (!assume(assumptions, output, -1, outputs_, output_literal)) return;
    if (!assume(assumptions, partial, variable, worlds_, world_literal)) return;
    ask(assumptions, mask, [&](auto value) { return cnf_.world(variable, value); });
  }

 private:
  // A solver for as long as a question takes; solvers that are not in use wait for the next.
  class Borrowed {
   public:
    explicit Borrowed(const SatPruner& owner) : owner_(owner) {
      {
        const std::lock_guard lock(owner_.mutex_);
        if (!owner_.idle_.empty()) {
          solver_ = std::move(owner_.idle_.back());
          owner_.idle_.pop_back();
          return;
        }
      }
      solver_ = std::make_unique<CaDiCaL::Solver>();
      for (const auto& clause : owner_.cnf_.clauses()) {
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
    const SatPruner& owner_;
    std::unique_ptr<CaDiCaL::Solver> solver_;
  };

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
  void ask(const std::vector<int>& assumptions, Mask mask, Literal literal) const {
    const Borrowed solver(*this);
    for (std::int64_t value = 0; value < static_cast<std::int64_t>(mask.size()); ++value) {
      for (const auto assumption : assumptions) solver->assume(assumption);
      solver->assume(literal(value));
      mask[static_cast<std::size_t>(value)] = solver->solve() == kSatisfiable;
    }
  }

  Cnf cnf_;
  Space worlds_, outputs_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<CaDiCaL::Solver>> idle_;
};

}  // namespace

std::unique_ptr<Pruner> make_sat_pruner(const Cnf& cnf, const Space& worlds, const Space& outputs) {
  return std::make_unique<SatPruner>(cnf, worlds, outputs);
}

#else

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
