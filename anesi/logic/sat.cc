#include "anesi/logic/sat.h"

#include <exception>
#include <mutex>

#include "anesi/core/error.h"
#include "anesi/core/interrupt.h"

#ifdef ANESI_WITH_CADICAL
#include <cadical.hpp>
#endif

namespace anesi {

#ifdef ANESI_WITH_CADICAL

namespace {

constexpr int kSatisfiable = 10;  // CaDiCaL's answers, as in the SAT competitions

// Asked by CaDiCaL, through which no exception may pass, whether to give up.
class GivesUpIfInterrupted final : public CaDiCaL::Terminator {
 public:
  bool terminate() override {
    if (interruption_) return true;
    try {
      check_interrupt();
    } catch (...) {
      interruption_ = std::current_exception();
    }
    return interruption_ != nullptr;
  }
  void end_if_interrupted() const {
    if (interruption_) std::rethrow_exception(interruption_);
  }

 private:
  std::exception_ptr interruption_;
};

bool solve(CaDiCaL::Solver& solver) {
  GivesUpIfInterrupted terminator;
  solver.connect_terminator(&terminator);
  const auto answer = solver.solve();
  solver.disconnect_terminator();
  terminator.end_if_interrupted();
  return answer == kSatisfiable;
}

}  // namespace

class SatSolvers::Pool {
 public:
  explicit Pool(std::vector<std::vector<int>> clauses) : clauses_(std::move(clauses)) {}

  // Calls use(solver) with a solver that knows the formula; those that are not in use wait for the next.
  template <typename Use>
  auto lend(Use use) const {
    auto solver = take();
    const auto result = use(*solver);
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(solver));
    return result;
  }

 private:
  std::unique_ptr<CaDiCaL::Solver> take() const {
    {
      const std::scoped_lock lock(mutex_);
      if (!idle_.empty()) {
        auto solver = std::move(idle_.back());
        idle_.pop_back();
        return solver;
      }
    }
    auto solver = std::make_unique<CaDiCaL::Solver>();
    solver->set("quiet", 1);
    for (const auto& clause : clauses_) {
      for (const auto literal : clause) solver->add(literal);
      solver->add(0);
    }
    return solver;
  }

  std::vector<std::vector<int>> clauses_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<CaDiCaL::Solver>> idle_;
};

SatSolvers::SatSolvers(std::vector<std::vector<int>> clauses) : pool_(std::make_unique<Pool>(std::move(clauses))) {}

bool SatSolvers::satisfiable(const std::vector<int>& assumptions, int one_more) const {
  return pool_->lend([&](CaDiCaL::Solver& solver) {
    for (const auto assumption : assumptions) solver.assume(assumption);
    if (one_more != 0) solver.assume(one_more);
    return solve(solver);
  });
}

std::vector<bool> SatSolvers::model(const std::vector<int>& assumptions, int variables) const {
  return pool_->lend([&](CaDiCaL::Solver& solver) {
    std::vector<bool> model;
    for (const auto assumption : assumptions) solver.assume(assumption);
    if (!solve(solver)) return model;
    model.resize(static_cast<std::size_t>(variables) + 1, false);
    for (int variable = 1; variable <= variables; ++variable) {
      // CaDiCaL knows only variables that clauses name.
      model[static_cast<std::size_t>(variable)] = variable <= solver.vars() && solver.val(variable) > 0;
    }
    return model;
  });
}

#else

class SatSolvers::Pool {};

SatSolvers::SatSolvers(std::vector<std::vector<int>>) {
  throw Error("SAT solving needs CaDiCaL, and anesi was built without it");
}
bool SatSolvers::satisfiable(const std::vector<int>&, int) const { return false; }
std::vector<bool> SatSolvers::model(const std::vector<int>&, int) const { return {}; }

#endif

SatSolvers::~SatSolvers() = default;
SatSolvers::SatSolvers(SatSolvers&&) noexcept = default;
SatSolvers& SatSolvers::operator=(SatSolvers&&) noexcept = default;

}  // namespace anesi
