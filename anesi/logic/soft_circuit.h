// Exact inference if some clauses need not hold (Markov logic):
//
//   p(w|P) = prod_i P_i(w_i) exp(sum of the weights of the soft clauses that hold) / Z(P)
//
// over the worlds that keep the hard clauses. The circuit is of the hard clauses and of a variable for each soft one
// that is true exactly if the clause holds; the weight stands on that variable.
#pragma once

#include <span>
#include <vector>

#include "anesi/core/random.h"
#include "anesi/core/rows.h"
#include "anesi/logic/circuit_batch.h"
#include "anesi/logic/cnf.h"
#include "anesi/logic/wcnf.h"

namespace anesi {

// Constant; several threads may ask at once. Methods throw Error if a shape does not fit.
class SoftCircuit {
 public:
  // Throws Error if that does not compile within `seconds`.
  SoftCircuit(const Cnf& hard, const std::vector<SoftClause>& soft, double seconds = 60);

  const Space& worlds() const { return worlds_; }
  std::int64_t nodes() const { return circuit().nodes(); }
  std::int64_t clauses() const { return static_cast<std::int64_t>(soft_.size()); }

  struct Query {
    Rows<const double> logs;     // of beliefs, [rows, worlds * width]
    Rows<const double> weights;  // of soft clauses, [rows, clauses], or one row for all
    std::int64_t size() const { return logs.size(); }
  };
  // log Z(P) of each row; -inf if no world is possible. `by_beliefs`, [rows, worlds * width], and `by_weights`,
  // [rows, clauses], are overwritten with the derivatives if they are not empty: how likely each value is, and how
  // likely each clause holds. 0 if no world is possible.
  void log_partition(const Query& query, std::span<double> logs, Rows<double> by_beliefs = {},
                     Rows<double> by_weights = {}) const;
  // Of which clauses hold, [rows, clauses * clauses]: the second derivative. A pass for each clause and row.
  void covariance(const Query& query, Rows<double> covariances) const;
  // The most probable world and log p(w|P), -inf if no world is possible.
  void most_probable(const Query& query, MutablePointRows worlds, std::span<double> log_probs) const;
  // A world for each row. Throws Error if none is possible. Does not depend on the number of threads.
  void sample(const Query& query, Random& random, MutablePointRows worlds) const;

 private:
  const Circuit& circuit() const { return batch_.circuit(); }
  void check(const Query& query) const;
  void fill(const Query& query, std::int64_t row, std::span<double> weights) const;
  // Calls visit(variable, value, place of its literal).
  template <typename Visit>
  void for_each_value(Visit visit) const;
  std::size_t place_of_clause(std::int64_t clause) const {
    return circuit().place_of(soft_[static_cast<std::size_t>(clause)]);
  }

  Encoding encoding_;
  Space worlds_;
  std::vector<int> soft_;  // the variable of each soft clause
  CircuitBatch batch_;
};

}  // namespace anesi
