#include "anesi/models/transducer.h"

#include "anesi/core/one_thread.h"
#include "anesi/models/architecture.h"

namespace anesi {
namespace {

// softmax(2) of tables that are not worth sharing out, and its gradient.
class SmallSoftmax : public torch::autograd::Function<SmallSoftmax> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& logits) {
    const OneThread alone(true);
    auto rows = torch::_softmax(logits, 2, /*half_to_float=*/false);
    context->save_for_backward({rows});
    return rows;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const OneThread alone(true);
    const auto rows = context->get_saved_variables()[0];
    return {torch::_softmax_backward_data(gradients[0], rows, 2, rows.scalar_type())};
  }
};

}  // namespace

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
    const auto rows = logits.numel() <= kSmallOperation ? SmallSoftmax::apply(logits) : logits.softmax(2);
    tables.push_back(rows.view({logits.size(0), states_, -1, states_}).permute({2, 0, 1, 3}).contiguous());
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
