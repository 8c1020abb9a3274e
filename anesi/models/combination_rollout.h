// Choosing worlds along a reading order whose outputs are known.
//
// At each step the combinations of all that it reads are weighed once; its variables are then chosen one after another
// among the combinations that are left. What a machine's states are is for those that derive from this.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "anesi/core/index.h"
#include "anesi/exact/planned_step.h"
#include "anesi/models/sequence_model.h"
#include "anesi/tensors/rows.h"

namespace anesi {

// Of each row: how likely each combination of the current step is, given what is chosen and the outputs to come; and
// the first one that agrees with what is chosen of the step.
struct WeighedCombinations {
  std::vector<double> weights;
  std::int64_t combination = 0;
};

template <typename Row>  // derives from WeighedCombinations
class CombinationRollout : public Rollout {
 public:
  torch::Tensor next_log_probs() override {
    const auto domain = steps()[step_].domains[place_];
    auto result = torch::empty({static_cast<std::int64_t>(rows_.size()), domain}, torch::kFloat64);
    auto* out = result.template mutable_data_ptr<double>();
    for (const auto& row : rows_) {
      // The combinations left to a row are contiguous; so are those of each value of the next variable.
      log_shares_of_values(row.weights.data() + row.combination, size_ / domain, domain, out);
      out += domain;
    }
    return result.to(options_);
  }

  void advance(const torch::Tensor& values) override {
    const auto chosen = values_of(values);
    size_ /= steps()[step_].domains[place_];
    for (std::size_t row = 0; row < rows_.size(); ++row) rows_[row].combination += chosen[row] * size_;
    if (++place_ < steps()[step_].reads.size()) return;
    leave(step_);
    ++step_;
    enter_step();
  }

  void select(const torch::Tensor& rows) override {
    std::vector<Row> kept;
    for (const auto row : values_of(rows)) kept.push_back(rows_[as_size(row)]);
    rows_ = std::move(kept);
  }

 protected:
  // Log-probabilities come in the options' type and place.
  explicit CombinationRollout(torch::TensorOptions options) : options_(options) {}

  virtual const std::vector<PlannedStep>& steps() const = 0;
  // Weighs the step's combinations, of every row.
  virtual void weigh(std::size_t step) = 0;
  // Moves every row by the combination it chose.
  virtual void leave(std::size_t step) = 0;

  // Goes to the next step that reads something. Called once when all rows are there.
  void enter_step() {
    place_ = 0;
    for (auto& row : rows_) row.combination = 0;
    for (; step_ < steps().size() && steps()[step_].reads.empty(); ++step_) leave(step_);
    if (step_ == steps().size()) return;
    size_ = steps()[step_].combinations;
    weigh(step_);
  }

  std::vector<Row> rows_;

 private:
  torch::TensorOptions options_;
  std::size_t step_ = 0, place_ = 0;  // the variable chosen next: reads[place_] of the step
  std::int64_t size_ = 1;             // how many combinations agree with what is chosen
};

}  // namespace anesi
