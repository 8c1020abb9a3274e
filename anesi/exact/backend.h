// A back end of exact inference: the quantities that q approximates, from plain arrays.
//
//   p(y|P) = sum over the worlds w with c(w) = y of p(w|P)      and      p(w|y,P) = p(w|P) [c(w) = y] / p(y|P)
//
// #P-hard in general, but feasible for small problems (enumeration.h), functions of bounded memory
// (automaton_backend.h), outputs of a few variables each (tables_backend.h) and formulas that compile
// (circuit_backend.h). backends.h chooses among them; a new one derives from Backend and registers itself.
//
// Beliefs come as logarithms, so that a belief of e^-1000 still counts, and need not be normalised. All answers are for
// a batch: one row for each example.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "anesi/core/random.h"
#include "anesi/core/rows.h"
#include "anesi/core/space.h"

namespace anesi {

inline constexpr double kLogOfZero = -std::numeric_limits<double>::infinity();

// A number for each value of each variable of each example, [size, variables, width] in one piece: log P_i(v), or a
// derivative by it. Places past a variable's domain do not count. A view; whoever made it keeps the numbers.
template <typename T>
struct ValuesOfBeliefs {
  T* data = nullptr;
  std::int64_t size = 0, variables = 0, width = 0;

  ValuesOfBeliefs() = default;
  ValuesOfBeliefs(T* numbers, std::int64_t examples, std::int64_t variables_of_each, std::int64_t values_of_each)
      : data(numbers), size(examples), variables(variables_of_each), width(values_of_each) {}
  template <typename U>
  requires std::is_same_v<const U, T> ValuesOfBeliefs(const ValuesOfBeliefs<U>& other)  // NOLINT
      : data(other.data), size(other.size), variables(other.variables), width(other.width) {}

  bool empty() const { return data == nullptr; }
  std::int64_t row_size() const { return variables * width; }
  T* row(std::int64_t index) const { return data + index * row_size(); }
  T& operator()(std::int64_t index, std::int64_t variable, std::int64_t value) const {
    return data[(index * variables + variable) * width + value];
  }
  ValuesOfBeliefs slice(std::int64_t begin, std::int64_t end) const {
    return {data == nullptr ? nullptr : row(begin), end - begin, variables, width};
  }
};
using LogBeliefRows = ValuesOfBeliefs<const double>;
using GradientRows = ValuesOfBeliefs<double>;

// A query: for each example its beliefs and an output. A variable of the output may be kUnset (any value) or
// other_than(value).
struct Query {
  LogBeliefRows logs;
  PointRows outputs;

  std::int64_t size() const { return logs.size; }
  Query slice(std::int64_t begin, std::int64_t end) const {
    return {logs.slice(begin, end), outputs.slice(begin, end)};
  }
};

// Points of a space, most probable first.
struct RankedPoints {
  Points points;
  std::vector<double> log_probs;
  bool proven = true;  // no other point is more probable than these; false if a search was cut short
};

// Constant; several threads may ask at once. Every method throws Error if a shape does not fit.
class Backend {
 public:
  Backend(Space worlds, Space outputs) : worlds_(std::move(worlds)), outputs_(std::move(outputs)) {}
  virtual ~Backend() = default;

  const Space& worlds() const { return worlds_; }
  const Space& outputs() const { return outputs_; }
  // Whether answers are those of the problem; else they approximate them.
  virtual bool is_exact() const { return true; }

  // log p(y|P) of each row; -inf if it is impossible. If `gradient` is not empty, it is overwritten with the derivative
  // by log P_i(v), which is p(w_i = v|y,P) because p(y|P) is linear in each P_i; 0 if y is impossible.
  void log_prob(const Query& query, std::span<double> log_probs, GradientRows gradient = {}) const;
  // The same of all other outputs together, which log(1 - p(y|P)) would round to nothing if y is all but certain.
  void log_prob_of_others(const Query& query, std::span<double> log_probs, GradientRows gradient = {}) const;

  // `result` = H * direction, with H the matrix of second derivatives of log p(y|P) by log P_i(v), or of that of all
  // other outputs together; both are [size, variables, width]. 0 if that is impossible.
  enum class Of { kOutput, kOthers };
  void hessian_product(const Query& query, LogBeliefRows direction, GradientRows result, Of of = Of::kOutput) const;

  // The world of largest p(w|y,P) and log p(w|P), which is -inf if no world of positive probability gives the output.
  void most_probable(const Query& query, MutablePointRows worlds, std::span<double> log_probs) const;
  // The most probable worlds of each row, at most `top`, with log p(w|P).
  std::vector<RankedPoints> ranked_worlds(const Query& query, std::int64_t top) const;

  // The most probable outputs of each row, at most `top`, with log p(y|P). Back ends that list all worlds read them
  // off; others search, which is quick if beliefs are sure and may be cut short if they are not (RankedPoints::proven).
  std::vector<RankedPoints> ranked_outputs(LogBeliefRows logs, std::int64_t top) const;
  virtual bool lists_worlds() const { return false; }
  // Whether some output is shorter than its space (kNone).
  virtual bool has_outputs_that_end() const { return false; }

  // A world from p(w|y,P) for each row. Throws Error if an output is impossible. Does not depend on the number of
  // threads.
  void sample(const Query& query, Random& random, MutablePointRows worlds) const;

  // The entropy of p(w|y,P) in nats, 0 if the output is impossible, and its derivative.
  void entropy(const Query& query, std::span<double> entropies, GradientRows gradient = {}) const;

 protected:
  // What each back end brings. Shapes are checked, there is at least one row, and gradients are zero before.
  virtual void find_log_prob(const Query& query, std::span<double> log_probs, GradientRows gradient) const = 0;
  virtual void find_most_probable(const Query& query, MutablePointRows worlds, std::span<double> log_probs) const = 0;
  // One generator for each row.
  virtual void draw(const Query& query, std::span<Random> randoms, MutablePointRows worlds) const = 0;

  // By the first variable in which an output differs: as many queries as there are variables.
  virtual void find_log_prob_of_others(const Query& query, std::span<double> log_probs, GradientRows gradient) const;
  // By making each value of each variable certain: as many queries as there are values.
  virtual void find_hessian_product(const Query& query, LogBeliefRows direction, GradientRows result, Of of) const;
  // By asking for the most probable world of what is left, again and again.
  virtual std::vector<RankedPoints> rank_worlds(const Query& query, std::int64_t top) const;
  // Best first, variable by variable: log p of some of an output's values bounds that of the whole output.
  virtual std::vector<RankedPoints> rank_outputs(LogBeliefRows logs, std::int64_t top) const;
  // From log p(y|P), its gradient and, for the derivative, its second one.
  virtual void find_entropy(const Query& query, std::span<double> entropies, GradientRows gradient) const;

 private:
  void check(const LogBeliefRows& logs, const PointRows* outputs) const;

  Space worlds_, outputs_;
};

// log(e^a + e^b), and of any number of them.
double log_add(double a, double b);
double log_sum(std::span<const double> logs);

}  // namespace anesi
