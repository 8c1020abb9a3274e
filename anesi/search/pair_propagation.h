// Propagation where each output says of two world variables whether they differ: 1 if they do, 0 if they are equal.
//
// Visual sudoku is of this kind, with an output for each pair of cells that share a row, a column or a box. A variable
// that has one value left takes it from all that differ from it and gives it to all that equal it, and so on until
// nothing follows any more. Equality is transitive, so an output that calls two variables equal along one way and
// different along another is refused before the search. Groups of more than two variables are not looked at: that four
// cells share three values is found by deciding one of them.
#pragma once

#include <memory>
#include <vector>

#include "anesi/core/variable_pairs.h"
#include "anesi/search/domains.h"
#include "anesi/search/propagation.h"

namespace anesi {

// Which pair each output tells of. Made once for a problem, shared by its searches.
class PairGraph {
 public:
  // Output k tells of pairs[k]. Throws Error where a pair names a variable that is not there, or the same one twice.
  PairGraph(Space worlds, std::vector<VariablePair> pairs);

  const Space& worlds() const { return worlds_; }
  const std::vector<VariablePair>& pairs() const { return pairs_; }
  // The pairs of all variables, one variable after another, fill a row of twice the pairs; variable i's begin here.
  std::int64_t begin(std::int64_t variable) const { return begin_[static_cast<std::size_t>(variable)]; }

 private:
  Space worlds_;
  std::vector<VariablePair> pairs_;
  std::vector<std::int64_t> begin_;  // one more than there are variables
};

class PairPropagation final : public Propagation {
 public:
  // kUnset in `output` says nothing of its pair; kNone, or any value but 0 and 1, is an output of no world. Costs a
  // pass over the pairs. Throws Error where a variable has more than 64 values or the output is not one a pair.
  PairPropagation(std::shared_ptr<const PairGraph> graph, Values output);

  std::span<const std::uint64_t> domains() const override { return domains_.masks(); }
  bool decide(std::int64_t variable, std::int64_t value) override;
  std::span<const std::int64_t> changed() const override { return domains_.changed(); }
  void undo() override { domains_.undo(); }

 private:
  bool read(Values output);
  bool contradicts_itself(Values output) const;
  bool conclude_from(std::int64_t variable);
  bool conclude();
  bool keep(std::int64_t variable, std::uint64_t mask) { return !domains_.keep(variable, mask) || domains_[variable]; }

  std::shared_ptr<const PairGraph> graph_;
  Domains domains_;
  // Variable i's neighbours stand from graph_->begin(i) on: those that differ up to different_end_[i], those that are
  // equal from equal_begin_[i] to the next variable's begin.
  std::vector<std::int32_t> neighbours_;
  std::vector<std::int64_t> different_end_, equal_begin_;
};

}  // namespace anesi
