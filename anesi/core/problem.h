// What is known: worlds, outputs, and the function between them.
//
// A problem is the background knowledge of a neurosymbolic system (section 2 of the paper): a space of worlds W, a
// space of outputs Y, and a function c from W to Y. Nothing is assumed about c; it may call a solver. Everything else
// in this library (priors, inference models, training) is built on samples of c. Whatever else is known of c is a fact
// (facts.h), and each fact buys something; docs/contracts.md says what.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "anesi/core/facts.h"
#include "anesi/core/rows.h"
#include "anesi/core/space.h"

namespace anesi {

// Shared and constant: std::shared_ptr<const Problem>.
class Problem {
 public:
  virtual ~Problem() = default;

  virtual const Space& worlds() const = 0;
  virtual const Space& outputs() const = 0;

  // Writes c of each row of a batch.
  //   worlds   each a point of worlds()
  //   outputs  as many rows, kNone throughout before; an output that is shorter than its space ends so
  // Depends on the worlds alone; called from several threads at once.
  virtual void apply(PointRows worlds, MutablePointRows outputs) const = 0;

  const Facts& facts() const { return facts_; }

 protected:
  Facts facts_;  // filled by the constructors of classes that derive from this
};

// A function that is written for one world at a time.
class PointwiseProblem : public Problem {
 public:
  // Writes c(world) into the output, which is kNone throughout before.
  virtual void apply_to_one(Values world, MutableValues output) const = 0;

  // Over a few threads. Throws Error where an output lies outside its space.
  void apply(PointRows worlds, MutablePointRows outputs) const override;
};

// A problem from a lambda:
//   const auto sum = make_problem(Space{10, 10}, Space{19}, [](Values w, MutableValues y) { y[0] = w[0] + w[1]; });
std::shared_ptr<const Problem> make_problem(Space worlds, Space outputs,
                                            std::function<void(Values world, MutableValues output)> function);

// The same problem, with these facts in place of its own.
std::shared_ptr<const Problem> with_facts(std::shared_ptr<const Problem> problem, Facts facts);

// The same problem, with one fact more.
template <typename Fact>
std::shared_ptr<const Problem> with(std::shared_ptr<const Problem> problem, Fact fact) {
  auto facts = problem->facts();
  facts.with(std::move(fact));
  return with_facts(std::move(problem), std::move(facts));
}

// c of each row of a batch. Throws Error where a row has another length than a world.
Points apply(const Problem& problem, PointRows worlds);

// c of one world. Throws Error where the output lies outside its space.
std::vector<std::int64_t> apply_to(const Problem& problem, Values world);

}  // namespace anesi
