#include "anesi/core/problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"

namespace anesi {
namespace {

// Below this many rows the threads cost more than they bring, even for the cheapest c worth batching.
constexpr std::int64_t kRowsPerThread = 256;

void check_output(const Problem& problem, Values world, Values output) {
  if (const auto complaint = problem.outputs().complaint(output); !complaint.empty()) {
    throw Error(
        fmt::format("problem: the output of world ({}) is outside its space: {}", fmt::join(world, ", "), complaint));
  }
}

class FunctionProblem final : public PointwiseProblem {
 public:
  using Function = std::function<void(Values, MutableValues)>;
  FunctionProblem(Space worlds, Space outputs, Function function)
      : worlds_(std::move(worlds)), outputs_(std::move(outputs)), function_(std::move(function)) {}

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply_to_one(Values world, MutableValues output) const override { function_(world, output); }

 private:
  Space worlds_, outputs_;
  Function function_;
};

// Of a Problem or, so that asking about one world at a time stays cheap, of a PointwiseProblem.
template <typename Base>
class WithFacts : public Base {
 public:
  // NOLINTNEXTLINE(performance-unnecessary-value-param): moved into a member that only shows once Base is known
  WithFacts(std::shared_ptr<const Base> problem, Facts facts) : problem_(std::move(problem)) {
    this->facts_ = std::move(facts);
  }
  const Space& worlds() const override { return problem_->worlds(); }
  const Space& outputs() const override { return problem_->outputs(); }
  void apply(PointRows worlds, MutablePointRows outputs) const override { problem_->apply(worlds, outputs); }
  const std::shared_ptr<const Base>& inner() const { return problem_; }

 private:
  std::shared_ptr<const Base> problem_;
};

class PointwiseWithFacts final : public WithFacts<PointwiseProblem> {
 public:
  using WithFacts::WithFacts;
  void apply_to_one(Values world, MutableValues output) const override { inner()->apply_to_one(world, output); }
};

}  // namespace

void PointwiseProblem::apply(PointRows worlds, MutablePointRows outputs) const {
  parallel_for(worlds.size(), kRowsPerThread, [&](std::int64_t begin, std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      apply_to_one(worlds[row], outputs[row]);
      check_output(*this, worlds[row], outputs[row]);
    }
  });
}

Points apply(const Problem& problem, PointRows worlds) {
  if (worlds.width() != problem.worlds().variables()) {
    throw Error(fmt::format("apply: worlds of {} variables; the problem's have {}", worlds.width(),
                            problem.worlds().variables()));
  }
  Points outputs(worlds.size(), problem.outputs().variables(), kNone);
  problem.apply(worlds, outputs);
  return outputs;
}

std::shared_ptr<const Problem> make_problem(Space worlds, Space outputs,
                                            std::function<void(Values, MutableValues)> function) {
  return std::make_shared<FunctionProblem>(std::move(worlds), std::move(outputs), std::move(function));
}

std::shared_ptr<const Problem> with_facts(std::shared_ptr<const Problem> problem, Facts facts) {
  // What is wrapped already is not wrapped again.
  if (const auto* const wrapped = dynamic_cast<const WithFacts<Problem>*>(problem.get())) problem = wrapped->inner();
  if (auto pointwise = std::dynamic_pointer_cast<const PointwiseProblem>(problem)) {
    if (const auto* const wrapped = dynamic_cast<const PointwiseWithFacts*>(pointwise.get()))
      pointwise = wrapped->inner();
    return std::make_shared<PointwiseWithFacts>(std::move(pointwise), std::move(facts));
  }
  return std::make_shared<WithFacts<Problem>>(std::move(problem), std::move(facts));
}

std::vector<std::int64_t> apply_to(const Problem& problem, Values world) {
  std::vector<std::int64_t> output(static_cast<std::size_t>(problem.outputs().variables()), kNone);
  if (const auto* const pointwise = dynamic_cast<const PointwiseProblem*>(&problem)) {
    pointwise->apply_to_one(world, output);
  } else {
    problem.apply({world.data(), 1, std::ssize(world)}, {output.data(), 1, std::ssize(output)});
  }
  check_output(problem, world, output);
  return output;
}

}  // namespace anesi
