// The weights of soft clauses from worlds that were seen: maximum likelihood.
//
// The logarithm of the likelihood is concave in the weights. Its gradient is how often each clause holds in the data
// less how often it does by p(w|P), and its second derivative the covariance of that, which is the Fisher information:
// with beliefs for each world the observed one. So Newton's method finds the weights in a few steps, and the inverse of
// the information gives their standard errors. Both ask for log Z(P) and what follows from it, in one of three ways.
#pragma once

#include <array>
#include <string_view>

#include "anesi/models/markov_inference.h"
#include "anesi/options/option_table.h"

namespace anesi {

enum class PartitionBy { kCircuit, kSampling, kQ };
constexpr std::array<std::string_view, 3> names_of(PartitionBy) { return {"circuit", "sampling", "q"}; }

struct FitOptions {
  PartitionBy by = PartitionBy::kCircuit;
  std::int64_t steps = 50, samples = 20000;
  double deviation = 0;
  bool tied = false;

  void describe(OptionTable& table) {
    table.add("by", by,
              "where log Z and its derivatives come from: circuit, exactly; sampling, from worlds that q draws; "
              "q, from its prediction alone");
    table.add("steps", steps, {1, 100000}, "of Newton's method, at most");
    table.add("samples", samples, {2, 100000000}, "worlds drawn for each belief in a step, where by=sampling");
    table.add("deviation", deviation, {0, 1e6},
              "standard deviation of a normal prior about zero that keeps weights finite; 0: no prior");
    table.add("tied", tied, "clauses that weigh the same in the file have one weight in common");
  }
};

struct FittedWeights {
  torch::Tensor weights;      // double [clauses]
  torch::Tensor errors;       // standard errors, double [clauses]
  torch::Tensor seen;         // how often each clause holds in the data, a share, double [clauses]
  double log_likelihood = 0;  // of a world given its belief, in the mean
  std::int64_t steps = 0;
  bool converged = false;
};

// Worlds are int64 [examples, worlds]. Beliefs are [examples, worlds, domain], or undefined where nothing but the
// clauses says how likely a world is. The network is asked where it is not by circuit. Throws UsageError, naming the
// clause, where a world breaks the hard clauses or is impossible by its belief, or where no finite weights are the most
// likely: a clause holds in all worlds of the data or in none, or does not depend on the others' truth alone. A
// deviation helps.
FittedWeights fit_weights(const MarkovInference& logic, const torch::Tensor& worlds, const torch::Tensor& beliefs,
                          const FitOptions& options, std::uint64_t seed,
                          const std::shared_ptr<GraphNetwork>& network = nullptr);

}  // namespace anesi
