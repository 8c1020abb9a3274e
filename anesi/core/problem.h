// What is known: worlds, outputs, and the function between them.
//
// A problem is the background knowledge of a neurosymbolic system (section 2 of the paper): a space of worlds W, a
// space of outputs Y, and a function c from W to Y. Nothing is assumed about c; it may call a solver. Everything else
// in this library (priors, inference models, training) is built on samples of c.
//
// The one thing to write is apply(). Each optional method has a default that is right for any function; writing it buys
// what its comment says. docs/contracts.md walks up this ladder with examples.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "anesi/core/automaton.h"
#include "anesi/core/cnf.h"
#include "anesi/core/grid_walk.h"
#include "anesi/core/propagation.h"
#include "anesi/core/pruner.h"
#include "anesi/core/reading_order.h"
#include "anesi/core/space.h"
#include "anesi/core/variable_pair.h"

namespace anesi {

class Problem {
 public:
  virtual ~Problem() = default;

  virtual const Space& worlds() const = 0;
  virtual const Space& outputs() const = 0;

  // Writes c(world) into output; an output shorter than its space ends with kNone.
  // Must depend on world alone. Called from several threads at once.
  virtual void apply(Values world, MutableValues output) const = 0;

  // c for a batch, int64 [batch, worlds] -> int64 [batch, outputs]. Default: apply() over a few threads; throws Error
  // where an output lies outside its space. Buys speed where c has a vectorised form.
  virtual torch::Tensor apply_batch(const torch::Tensor& worlds) const;

  // In which order worlds are read before each output. Buys the transducer its bounded memory: near-exact inference in
  // seconds. Default: all worlds are read, then all outputs are emitted.
  virtual ReadingOrder reading_order() const;

  // Where each output variable depends on two world variables alone: which two, in the order of the outputs. Buys the
  // architecture `pairwise`. Default: none (empty).
  virtual std::vector<VariablePair> pairs() const { return {}; }

  // By how much outputs would do worse in their worlds than c's own, [batch]; 0 where they do as well (another path
  // that is as cheap), which evaluation counts as right. Default: 1 where they are not c's own.
  virtual torch::Tensor regret(const torch::Tensor& worlds, const torch::Tensor& outputs) const {
    return (apply_batch(worlds) != outputs).any(1).to(torch::kFloat32);
  }

  // How far outputs are from those wanted, [batch], 0 where they are the same; what loss=rloo lowers. Default: the
  // share of output variables that differ.
  virtual torch::Tensor distance(const torch::Tensor& outputs, const torch::Tensor& wanted) const {
    return (outputs != wanted).to(torch::kFloat32).mean(1);
  }

  // Other questions of the same kind about a world, where there are such (a path's start and goal): random ones, int64
  // [count, …], and what c says to each, int64 [batch, outputs]. Buys a q that learns more from each world it samples.
  // Default: none (undefined), and the problem's own outputs.
  virtual torch::Tensor draw_queries(std::int64_t /*count*/, at::Generator /*generator*/) const { return {}; }
  virtual torch::Tensor answer(const torch::Tensor& worlds, const torch::Tensor& /*queries*/) const {
    return apply_batch(worlds);
  }

  // What c knows on the way to its outputs, int64 [batch, …] (the direction from every cell, not only from those of the
  // path). Buys a q that can be told (q.trace). Default: none (undefined).
  virtual torch::Tensor trace(const torch::Tensor& /*worlds*/, const torch::Tensor& /*queries*/) const { return {}; }

  // Where worlds are the cells of a grid and outputs walks over it, ended by kNone: that grid, with the walks' start
  // and goal. Buys the architecture `grid`. Default: none.
  virtual std::optional<GridWalk> walk() const { return std::nullopt; }

  // Whether c stays the same when the values of all worlds are renamed by one permutation (the digits of a sudoku).
  // What perception calls a value is then its own choice, and accuracies are counted under the best renaming.
  virtual bool values_are_names() const { return false; }

  // The function as a machine with a finite memory along a reading order. Buys exact inference and an exact pruner,
  // both linear in the length. Default: none (null).
  virtual std::shared_ptr<const Automaton> automaton() const;

  // The function as a formula. Buys a pruner by SAT solving and exact inference by compilation. Default: none.
  virtual std::optional<Cnf> cnf() const;

  // Which values can still be completed. Buys hard guarantees: every sampled or decoded value satisfies c.
  // Default: none (null). pruners/ has some that are made from an automaton, a formula or local constraints.
  virtual std::unique_ptr<Pruner> pruner() const;

  // What follows from deciding world variables one after another, where c(w) is to be `output`; kUnset leaves an output
  // variable open. Buys the most probable world that gives an output, where there is no automaton
  // (search/consistent_worlds.h). One is made for each search, from several threads at once, so it should be cheap;
  // `output` is valid during the call only. Default: none (null, whatever the output).
  virtual std::unique_ptr<Propagation> propagation(Values output) const;
};

// A problem from a lambda: the first rung of the ladder.
//   auto problem = make_problem(Space::uniform(2, 10), Space{19}, [](Values w, MutableValues y) { y[0] = w[0] + w[1];
//   });
std::unique_ptr<Problem> make_problem(Space worlds, Space outputs, std::function<void(Values, MutableValues)> apply);

// c(world) for one world; throws Error where the output lies outside its space.
std::vector<std::int64_t> apply_checked(const Problem& problem, Values world);

}  // namespace anesi
