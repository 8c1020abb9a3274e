#include "anesi/formula/constraint.h"

#include "anesi/core/asked_output.h"
#include "anesi/core/error.h"
#include "anesi/search/circuit_pruner.h"
#include "anesi/search/remembering_pruner.h"

namespace anesi {
namespace {

class Constraint final : public PointwiseProblem {
 public:
  explicit Constraint(std::shared_ptr<const CompiledFormula> formula)
      : formula_(std::move(formula)), worlds_(space_of(formula_->encoding.worlds)), outputs_({2}) {
    if (!formula_->circuit.satisfiable()) throw Error("constraint: no world satisfies it");
    facts_.with(formula_);
    facts_.with(std::shared_ptr<const Pruner>(make_remembering_pruner(make_circuit_pruner(formula_))));
    facts_.with(AskedOutput{{kSatisfied}});
  }

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply_to_one(Values world, MutableValues output) const override {
    output[0] = satisfies(*formula_, world) ? kSatisfied : 0;
  }

 private:
  std::shared_ptr<const CompiledFormula> formula_;
  Space worlds_, outputs_;
};

}  // namespace

std::shared_ptr<const Problem> make_constraint(std::shared_ptr<const CompiledFormula> formula) {
  return std::make_shared<Constraint>(std::move(formula));
}

std::shared_ptr<const Problem> make_constraint(std::shared_ptr<const CompiledFormula> formula, KnownVariables known) {
  Random random(0);
  std::vector<std::int64_t> drawn(known.variables.size());
  known.draw(random, drawn);
  auto world = std::vector<std::int64_t>(formula->encoding.worlds.size(), kUnset);
  for (std::size_t place = 0; place < known.variables.size(); ++place) {
    world[static_cast<std::size_t>(known.variables[place])] = drawn[place];
  }
  auto problem = make_constraint(formula);
  if (!satisfies(*formula, world)) throw Error("constraint: no world satisfies it together with what is known");
  return with(std::move(problem), std::move(known));
}

}  // namespace anesi
