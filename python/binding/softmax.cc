#include "softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "anesi/core/index.h"

namespace anesi::python {
namespace {

template <typename Number>
void forward_rows(const Number* in, Number* out, std::int64_t batch, const std::vector<std::int64_t>& domains,
                  std::int64_t width) {
  for (std::int64_t example = 0; example < batch; ++example) {
    for (const auto domain : domains) {
      const auto highest = *std::max_element(in, in + domain);
      Number sum = 0;
      for (std::int64_t value = 0; value < domain; ++value) sum += out[value] = std::exp(in[value] - highest);
      // max_element passes over a NaN that is not the first, but the sum does not.
      const auto scale = std::isfinite(highest) ? 1 / sum : std::numeric_limits<Number>::quiet_NaN();
      for (std::int64_t value = 0; value < domain; ++value) out[value] *= scale;
      std::fill(out + domain, out + width, Number{0});
      in += width;
      out += width;
    }
  }
}

// p * (g - sum of p * g), row by row.
template <typename Number>
void backward_rows(const Number* beliefs, const Number* gradients, Number* out, std::int64_t rows, std::int64_t width) {
  for (std::int64_t row = 0; row < rows; ++row, beliefs += width, gradients += width, out += width) {
    Number dot = 0;
    for (std::int64_t value = 0; value < width; ++value) dot += beliefs[value] * gradients[value];
    for (std::int64_t value = 0; value < width; ++value) out[value] = beliefs[value] * (gradients[value] - dot);
  }
}

class DomainSoftmax final : public torch::autograd::Function<DomainSoftmax> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& logits,
                               const std::vector<std::int64_t>& domains) {
    const auto in = logits.contiguous();
    auto beliefs = torch::empty_like(in);
    const auto batch = in.size(0), width = in.size(2);
    if (in.scalar_type() == torch::kFloat64) {
      forward_rows(in.const_data_ptr<double>(), beliefs.mutable_data_ptr<double>(), batch, domains, width);
    } else {
      forward_rows(in.const_data_ptr<float>(), beliefs.mutable_data_ptr<float>(), batch, domains, width);
    }
    context->save_for_backward({beliefs});
    return beliefs;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto beliefs = context->get_saved_variables()[0];
    if (torch::GradMode::is_enabled()) {  // somebody wants to differentiate once more
      const auto weighed = beliefs * gradients[0];
      return {weighed - beliefs * weighed.sum(2, /*keepdim=*/true), {}};
    }
    const auto gradient = gradients[0].contiguous();
    auto result = torch::empty_like(beliefs);
    const auto rows = beliefs.size(0) * beliefs.size(1), width = beliefs.size(2);
    if (beliefs.scalar_type() == torch::kFloat64) {
      backward_rows(beliefs.const_data_ptr<double>(), gradient.const_data_ptr<double>(),
                    result.mutable_data_ptr<double>(), rows, width);
    } else {
      backward_rows(beliefs.const_data_ptr<float>(), gradient.const_data_ptr<float>(), result.mutable_data_ptr<float>(),
                    rows, width);
    }
    return {result, {}};
  }
};

// In f64, so that two passes over short rows are quick enough.
class DomainLogSoftmax final : public torch::autograd::Function<DomainLogSoftmax> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& logits,
                               const std::vector<std::int64_t>& domains) {
    const auto values = logits.contiguous();
    auto logs = torch::empty_like(values);
    const auto batch = values.size(0), width = values.size(2);
    const auto* in = values.const_data_ptr<double>();
    auto* out = logs.mutable_data_ptr<double>();
    for (std::int64_t example = 0; example < batch; ++example) {
      for (const auto domain : domains) {
        const auto highest = *std::max_element(in, in + domain);
        double sum = 0;
        for (std::int64_t value = 0; value < domain; ++value) sum += std::exp(in[value] - highest);
        const auto shift = std::isfinite(highest) ? highest + std::log(sum) : std::numeric_limits<double>::quiet_NaN();
        for (std::int64_t value = 0; value < domain; ++value) out[value] = in[value] - shift;
        std::fill(out + domain, out + width, -std::numeric_limits<double>::infinity());
        in += width;
        out += width;
      }
    }
    context->save_for_backward({logs});
    return logs;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto beliefs = context->get_saved_variables()[0].exp();
    return {gradients[0] - beliefs * gradients[0].sum(2, /*keepdim=*/true), {}};
  }
};

}  // namespace

torch::Tensor log_softmax_of_domains(const torch::Tensor& logits, const std::vector<std::int64_t>& domains) {
  return DomainLogSoftmax::apply(logits.to(torch::kFloat64), domains);
}

torch::Tensor softmax_of_domains(const torch::Tensor& logits, const std::vector<std::int64_t>& domains) {
  return DomainSoftmax::apply(logits, domains);
}

}  // namespace anesi::python
