// One recurrent cell that walks along a problem's reading order.
//
// At every step it sees the beliefs of the world variables read there and the state left by the steps before; it gives
// the next output's probabilities, is told which value was chosen, and moves on. Steps of one kind share weights, so
// the number of parameters does not depend on the length. It is a neural q: it must learn from sampled beliefs what the
// transducer gets from worlds alone, but nothing bounds what its state can remember.
#pragma once

#include "anesi/core/problem.h"
#include "anesi/core/reading_order.h"
#include "anesi/models/sequence_model.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct ScanOptions {
  std::int64_t width = 128;

  void describe(OptionTable& table) { table.add("width", width, {1, 8192}, "size of the recurrent state"); }
};

class Scan final : public SequenceModel {
 public:
  Scan(const Space& worlds, const Space& outputs, const ReadingOrder& reading, const ScanOptions& options);

  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override;
  std::unique_ptr<Rollout> begin(const Context& context) override;

 private:
  friend class ScanRollout;
  // The encoded beliefs of every step, each [rows, width] (undefined where a step reads nothing).
  std::vector<torch::Tensor> encode(const torch::Tensor& beliefs);
  // What a step sees: the state and its encoded input, [rows, width].
  torch::Tensor look(const torch::Tensor& encoded, const torch::Tensor& state);
  torch::Tensor emit(const ReadingStep& step, const torch::Tensor& seen);  // log-probabilities [rows, domain]
  // The state after a step; `values` [rows] is what it emitted, undefined where it emits nothing.
  torch::Tensor move(const ReadingStep& step, const torch::Tensor& seen, const torch::Tensor& values);

  ReadingOrder reading_;
  std::vector<std::int64_t> world_domains_;
  std::int64_t width_;
  torch::Tensor first_state_;
  std::vector<torch::nn::Linear> encoders_, heads_;  // one a kind
  std::vector<torch::nn::Embedding> told_;           // one a kind
  torch::nn::Linear from_state_{nullptr}, before_head_{nullptr}, before_move_{nullptr}, move_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};
};

}  // namespace anesi
