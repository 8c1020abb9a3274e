// Teaching one graph network on a stream of formulas.
//
// A-NeSI's joint matching, log q(y=1|P) + log q(w|y=1,P) = log p(w|P), pooled over a few worlds: log q(y=1|P) is fitted
// to the logarithm of the mean of p(w|P) / q(w|y=1,P) over worlds that q itself draws under the pruner. With one world
// that is joint matching; with more the same, less noisy and less biased. The explanation model is the prediction model
// asked with certain beliefs, so every prefix of a draw is one more example: the worlds that go through it say what
// q(y=1|P) is where that much is certain. Values that the pruner forbids are examples of a count of zero. Nothing here
// counts exactly.
//
// Soft clauses are learned the same way (markov_logic.h): their weights are drawn too, and a world counts by how likely
// it passes them.
//
// What importance sampling says does not depend on how good q was at the time, so that examples are used more than
// once.
#pragma once

#include <functional>
#include <memory>
#include <random>

#include "anesi/logic/cnf.h"
#include "anesi/models/graph.h"
#include "anesi/models/markov_inference.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct FormulaTrainingOptions {
  std::int64_t steps = 1500, formulas = 2, reuse = 3, worlds = 16, examples = 12, impossible = 4;
  double learning_rate = 3e-3;

  void describe(OptionTable& table) {
    table.add("steps", steps, {1, 1000000000}, "updates of the network");
    table.add("formulas", formulas, {1, 1000000}, "formulas that an update learns from");
    table.add("reuse", reuse, {1, 1000000}, "how often worlds that were drawn are learned from, in the mean");
    table.add("worlds", worlds, {1, 1000000}, "drawn for each formula");
    table.add("examples", examples, {1, 1000000}, "prefixes of them that an update looks at, of each formula");
    table.add("impossible", impossible, {0, 1000000}, "prefixes that nothing completes, of each formula");
    table.add("lr", learning_rate, {0, 1}, "learning rate; it falls to zero along a square root");
  }
};

// Draws a formula that some world satisfies.
using DrawFormula = std::function<Cnf(std::mt19937_64& random)>;

// Three literals a clause, from 10 to 20 variables, `from` to `to` clauses a variable; those that nothing satisfies are
// drawn again.
DrawFormula random_formulas(double from, double to);

// Told after each step: how many there were, and how far off q was in nats, in the mean.
using FormulaProgress = std::function<void(std::int64_t step, double error)>;

// Beliefs are uniform between 0 and 1. The same seed gives the same network, given the same first weights.
void train_on_formulas(const std::shared_ptr<GraphNetwork>& network, const DrawFormula& draw,
                       const FormulaTrainingOptions& options, std::uint64_t seed, const FormulaProgress& progress = {});

// A weighted formula and weights for it, [clauses], which need not be its own.
struct SoftFormula {
  std::shared_ptr<const MarkovInference> logic;
  torch::Tensor weights;
};
using DrawSoftFormula = std::function<SoftFormula(std::mt19937_64& random)>;

// From 4 to 12 variables, one to three clauses a variable of one to three literals; one in eight must hold, the others
// weigh between -2 and 2. Those that nothing satisfies are drawn again. Nothing is compiled unless `seconds` are given.
DrawSoftFormula random_soft_formulas(double seconds = 0);
// One formula with weights of any size that its own may be of, and at least 2.
DrawSoftFormula weights_of_one_formula(std::shared_ptr<const MarkovInference> logic);

// As above, of a network that is for soft clauses (soft_network). Variables may have any number of values.
void train_on_soft_formulas(const std::shared_ptr<GraphNetwork>& network, const DrawSoftFormula& draw,
                            const FormulaTrainingOptions& options, std::uint64_t seed,
                            const FormulaProgress& progress = {});

}  // namespace anesi
