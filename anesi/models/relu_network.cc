#include "anesi/models/relu_network.h"

#include <ATen/autocast_mode.h>

namespace anesi {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Parameters are the weight and the bias of each layer. Saved are, for each layer, its weight and what goes into it.
class ReluNetwork : public torch::autograd::Function<ReluNetwork> {
 public:
  static torch::Tensor forward(AutogradContext* context, const torch::Tensor& inputs, torch::TensorList parameters) {
    const auto kind = at::autocast::is_autocast_enabled(inputs.device().type())
                          ? at::autocast::get_autocast_dtype(inputs.device().type())
                          : inputs.scalar_type();
    const c10::impl::ExcludeDispatchKeyGuard casts_itself(c10::autocast_dispatch_keyset);
    variable_list saved;
    auto values = inputs.to(kind);
    torch::Tensor outputs;
    for (std::size_t place = 0; place < parameters.size(); place += 2) {
      const auto weight = parameters[place].to(kind), bias = parameters[place + 1].to(kind);
      saved.insert(saved.end(), {weight, values});
      if (place + 2 < parameters.size()) {
        values = torch::addmm(bias, values, weight.t()).relu_();
      } else {
        outputs = torch::addmm(bias.unsqueeze(1), weight, values.t());
      }
    }
    context->save_for_backward(std::move(saved));
    return outputs.to(inputs.scalar_type());
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const auto saved = context->get_saved_variables();
    const auto given = outputs[0].scalar_type(), kind = saved[0].scalar_type();
    variable_list gradients(1 + saved.size());
    auto gradient = outputs[0].to(kind).t();  // [rows, outputs]
    for (auto place = saved.size(); place > 0; place -= 2) {
      const auto &weight = saved[place - 2], &values = saved[place - 1];
      if (context->needs_input_grad(place - 1)) {
        gradients[place - 1] = gradient.t().mm(values).to(given);
        gradients[place] = gradient.sum(0).to(given);
      }
      const bool is_first = place == 2;
      if (is_first && !context->needs_input_grad(0)) break;
      gradient = gradient.mm(weight);
      if (!is_first) torch::threshold_backward_out(gradient, gradient, values, 0);
    }
    if (context->needs_input_grad(0)) gradients[0] = gradient.to(given);
    return gradients;
  }
};

}  // namespace

torch::Tensor relu_network(const torch::Tensor& inputs, const std::vector<torch::nn::Linear>& layers) {
  variable_list parameters;
  for (const auto& layer : layers) parameters.insert(parameters.end(), {layer->weight, layer->bias});
  return ReluNetwork::apply(inputs, torch::TensorList(parameters));
}

}  // namespace anesi
