// q(w|y,P) by two walks along a problem's reading order.
//
// What a world variable was depends on the outputs of its own step, on what was chosen before and on the outputs still
// to come (whether a carry was needed shows only in the next digit). So one recurrent cell walks from the last step to
// the first and leaves a message about what lies ahead; another walks forward and chooses the variables of each step,
// told the step's beliefs and output, the message from ahead and every choice so far. Steps of one kind share weights.
//
// The exact conditional is P_i(v) times how well v fits the rest, so the network only gives the second factor: its
// logits are added to log P_i.
#pragma once

#include "anesi/core/reading_order.h"
#include "anesi/models/scan.h"
#include "anesi/models/sequence_model.h"

namespace anesi {

class ScanExplanation final : public SequenceModel {
 public:
  ScanExplanation(const Space& worlds, const Space& outputs, const ReadingOrder& reading, const ScanOptions& options);

  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override;
  std::unique_ptr<Rollout> begin(const Context& context) override;

 private:
  friend class ScanExplanationRollout;

  // What does not depend on choices: each step's encoded input together with the message from ahead, [rows, width].
  std::vector<torch::Tensor> look_ahead(const Context& context);
  // Log-probabilities of the variable at `place` of a step, whose cell holds `seen`, [rows, domain].
  torch::Tensor choose(const ReadingStep& step, std::size_t place, const torch::Tensor& seen,
                       const torch::Tensor& belief);
  torch::Tensor told(const ReadingStep& step, std::size_t place, const torch::Tensor& values);
  torch::Tensor move(const torch::Tensor& seen);

  ReadingOrder reading_;
  Space outputs_;
  std::int64_t width_;
  torch::Tensor first_state_, last_message_;
  std::vector<torch::nn::Linear> encoders_;              // one a kind; null where it neither reads nor emits
  std::vector<std::vector<torch::nn::Linear>> heads_;    // [kind][place]
  std::vector<std::vector<torch::nn::Embedding>> told_;  // [kind][place]
  torch::nn::Linear from_message_{nullptr}, message_{nullptr}, from_ahead_{nullptr}, from_state_{nullptr},
      before_head_{nullptr}, before_move_{nullptr}, move_{nullptr};
  torch::nn::LayerNorm message_norm_{nullptr}, state_norm_{nullptr};
};

}  // namespace anesi
