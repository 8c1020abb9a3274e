// The rules of sudoku as pairs of cells that must differ (section 4.2 and appendix I.2 of the paper).
//
// Worlds are the cells of a grid, row by row. There is an output for each pair of cells that share a row, a column or a
// block: 1 where they differ, 0 where they are equal. A grid is valid where all of them are 1.
#pragma once

#include <memory>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/data/puzzles.h"
#include "anesi/search/pair_propagation.h"

namespace anesi {

// What is known of it: the two cells of each output, what follows from deciding cells one after another, that digits
// are names, a formula and, at 4x4, a pruner by SAT. (Beyond, that a choice cannot be completed may take a solver for
// ever to prove.) All labels are about one output, that all pairs differ.
class Sudoku final : public PointwiseProblem {
 public:
  // `size` is the length of a side and the number of values, a square: 4, 9, 16, … Throws UsageError otherwise.
  explicit Sudoku(std::int64_t size);

  std::int64_t size() const { return size_; }
  const std::vector<VariablePair>& pairs() const { return graph_->pairs(); }
  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply_to_one(Values world, MutableValues output) const override;

  // All pairs differ.
  std::vector<std::int64_t> valid() const { return std::vector<std::int64_t>(graph_->pairs().size(), 1); }

 private:
  std::int64_t size_;
  Space worlds_;
  std::shared_ptr<const PairGraph> graph_;  // the smaller cell of a pair first, in order
  Space outputs_;
};

}  // namespace anesi
