#include "anesi/models/transducer.h"

#include "anesi/models/architecture.h"
#include "anesi/tensors/one_thread.h"

namespace anesi {

Transducer::Transducer(const Space& outputs, const ReadingOrder& reading, const TransducerOptions& options)
    : FiniteStateModel(outputs, reading), states_(options.states) {
  initial_logits_ = register_parameter("initial", torch::zeros({states_}));
  for (std::int64_t index = 0; index < reading.kinds(); ++index) {
    const auto& kind = reading.kind(index);
    table_logits_.push_back(
        register_parameter("table" + std::to_string(index),
                           torch::randn({kind.combinations(), states_, kind.emit_domain * states_}) * 0.5));
  }
}

torch::Tensor Transducer::initial() const { return initial_logits_.softmax(0); }

std::vector<torch::Tensor> Transducer::tables() const {
  std::vector<torch::Tensor> tables;
  for (const auto& logits : table_logits_) {
    const OneThread alone(logits.numel() <= kSmallOperation);
    tables.push_back(logits.softmax(2).view({logits.size(0), states_, -1, states_}).permute({2, 0, 1, 3}).contiguous());
  }
  return tables;
}

ANESI_ARCHITECTURE("transducer", "a learned finite-state transducer, multilinear in the beliefs", TransducerOptions,
                   [](const TransducerOptions& options, const Problem& problem, bool explain) -> InferenceModel {
                     const auto model =
                         std::make_shared<Transducer>(problem.outputs(), reading_order_of(problem), options);
                     return {model, explain ? make_explanation(model, problem.worlds()) : nullptr};
                   });

}  // namespace anesi
