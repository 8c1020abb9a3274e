// Belief propagation over a few columns at once, with its derivative.
//
// A column is an example in one case of the known variables. Numbers of columns stand side by side, so that loops over
// them are vectorised. Everything is in logarithms. What is impossible counts e^-1000000: then all numbers stay finite.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "anesi/exact/message_plan.h"

namespace anesi {

inline constexpr std::size_t kColumns = 16;
inline constexpr double kImpossible = -1e6;  // a logarithm

using ColumnNumbers = std::array<double, kColumns>;

// For one thread. The plan must outlive it.
class MessagePassing {
 public:
  // `violated` is the logarithm of what each clause of the plan multiplies a world with that violates it. In loops,
  // messages keep `damping` of their old value in each of `rounds` sweeps, at least two.
  MessagePassing(const MessagePlan& plan, std::vector<double> violated, std::int64_t rounds, double damping);

  // What columns start from, to be written before count(): logarithms for each value of each variable, where those of
  // known variables do not count, and the case of each column.
  std::span<ColumnNumbers> weights() { return weights_; }
  std::array<std::int64_t, kColumns>& cases() { return cases_; }

  // Bethe's estimate of the logarithm of each column's weighted number of worlds, over variables that are not known.
  // With a record, differentiate() may follow.
  ColumnNumbers count(bool record);

  // The derivatives of the last counts by the weights and by `violated`.
  void differentiate();
  std::span<const ColumnNumbers> slopes() const { return slopes_; }
  std::span<const ColumnNumbers> clause_slopes() const { return clause_slopes_; }

 private:
  friend struct MessageKernel;

  const MessagePlan& plan_;
  std::vector<double> violated_;
  std::int64_t rounds_;
  double damping_;
  std::array<std::int64_t, kColumns> cases_{};
  std::vector<ColumnNumbers> weights_, totals_;  // [values]
  std::vector<ColumnNumbers> messages_;          // [edges]: log of what a clause leaves to failing values
  std::vector<ColumnNumbers> record_;            // [updates of edges], the messages before
  std::vector<ColumnNumbers> slopes_, clause_slopes_, message_slopes_;
  // Of the clause at hand, [edges]: log of how likely a variable fails it by what all other clauses say, and does not;
  // the product of those before, and its complement; the message by the others.
  std::vector<ColumnNumbers> failing_, saving_, all_fail_, some_saves_, others_fail_, fresh_, slope_;
};

}  // namespace anesi
