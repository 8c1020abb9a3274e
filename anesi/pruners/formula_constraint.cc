#include "anesi/pruners/formula_constraint.h"

#include <array>

#include "anesi/core/asked_output.h"
#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/pruners/sat_pruner.h"

namespace anesi {
namespace {

class FormulaConstraint final : public PointwiseProblem {
 public:
  explicit FormulaConstraint(Cnf cnf) : worlds_(space_of_worlds(cnf)), outputs_({2}) {
    if (!cnf.encoding().is_constraint()) throw UsageError("formula: it is of a function with outputs of its own");
    pruner_ = make_sat_pruner(cnf, worlds_, outputs_);
    facts_.with(std::move(cnf)).with(pruner_).with(AskedOutput{{1}});
  }

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply_to_one(Values world, Values, MutableValues output) const override {
    constexpr std::array<std::int64_t, 1> kSatisfied{1};
    const auto allowed = std::make_unique<bool[]>(as_size(worlds_.domain(0)));
    pruner_->allow_worlds(kSatisfied, world, 0, {allowed.get(), as_size(worlds_.domain(0))});
    output[0] = allowed[as_size(world[0])] ? 1 : 0;
  }

 private:
  static Space space_of_worlds(const Cnf& cnf) {
    std::vector<std::int64_t> domains;
    for (const auto& values : cnf.encoding().worlds) domains.push_back(static_cast<std::int64_t>(values.size()));
    return Space(std::move(domains));
  }

  Space worlds_, outputs_;
  std::shared_ptr<const Pruner> pruner_;
};

}  // namespace

std::shared_ptr<const Problem> make_formula_constraint(Cnf cnf) {
  return std::make_shared<FormulaConstraint>(std::move(cnf));
}

}  // namespace anesi
