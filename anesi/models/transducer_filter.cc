#include "anesi/models/transducer_filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "anesi/core/error.h"
#include "anesi/exact/table_filter.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

template <typename Real>
std::span<const Real> numbers_of(const torch::Tensor& tensor) {
  return {tensor.const_data_ptr<Real>(), static_cast<std::size_t>(tensor.numel())};
}

// Carries the filter from forward to backward.
template <typename Real>
struct FilterHolder : torch::CustomClassHolder {
  explicit FilterHolder(TableFilter<Real> held) : filter(std::move(held)) {}
  TableFilter<Real> filter;
};

template <typename Real>
class Filter : public torch::autograd::Function<Filter<Real>> {
 public:
  // Tensors in one piece on the CPU. Tables are flattened into one vector, kind after kind, because a custom function
  // wants a fixed list of arguments; `offsets` says where each begins.
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& beliefs,
                               const torch::Tensor& values, const torch::Tensor& initial, const torch::Tensor& tables,
                               const ReadingOrder& reading, const std::vector<std::int64_t>& offsets) {
    typename TableFilter<Real>::Machine machine{numbers_of<Real>(initial), {}};
    for (const auto offset : offsets) machine.tables.push_back(tables.const_data_ptr<Real>() + offset);
    auto holder = c10::make_intrusive<FilterHolder<Real>>(TableFilter<Real>(
        reading, std::move(machine),
        {beliefs.const_data_ptr<Real>(), beliefs.size(0), beliefs.size(1), beliefs.size(2), rows_of(values)}));
    auto result = torch::empty({beliefs.size(0)}, beliefs.options());
    holder->filter.log_prob({result.template mutable_data_ptr<Real>(), static_cast<std::size_t>(result.numel())});
    // The filter looks at their memory.
    context->save_for_backward({beliefs, values, initial, tables});
    context->saved_data["offsets"] = offsets;
    context->saved_data["filter"] = c10::IValue::make_capsule(std::move(holder));
    return result;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& upstream) {
    const auto saved = context->get_saved_variables();
    const auto holder =
        c10::static_intrusive_pointer_cast<FilterHolder<Real>>(context->saved_data["filter"].toCapsule());
    const auto gradient_of = [&](std::size_t input) {
      return context->needs_input_grad(input) ? torch::zeros_like(saved[input]) : torch::Tensor();
    };
    auto beliefs = gradient_of(0), initial = gradient_of(2), tables = gradient_of(3);
    typename TableFilter<Real>::Gradients gradients;
    if (beliefs.defined()) gradients.beliefs = beliefs.template mutable_data_ptr<Real>();
    if (initial.defined()) gradients.initial = initial.template mutable_data_ptr<Real>();
    if (tables.defined()) {
      for (const auto offset : context->saved_data["offsets"].toIntVector()) {
        gradients.tables.push_back(tables.template mutable_data_ptr<Real>() + offset);
      }
    }
    const auto factors = upstream[0].detach().contiguous();
    holder->filter.add_gradients(numbers_of<Real>(factors), gradients);
    return {beliefs, torch::Tensor(), initial, tables, torch::Tensor(), torch::Tensor()};
  }
};

void check_dimensions(const torch::Tensor& beliefs) {
  if (beliefs.dim() == 3) return;
  throw Error(fmt::format("transducer: beliefs of shape ({}); [batch, variables, values] is expected",
                          fmt::join(beliefs.sizes(), ", ")));
}

}  // namespace

torch::Tensor filter_log_prob(const torch::Tensor& beliefs, const torch::Tensor& values, const torch::Tensor& initial,
                              const std::vector<torch::Tensor>& tables, const ReadingOrder& reading) {
  check_dimensions(beliefs);
  std::vector<torch::Tensor> flat;
  std::vector<std::int64_t> offsets;
  std::int64_t offset = 0;
  for (const auto& table : tables) {
    flat.push_back(table.reshape(-1).to(torch::kCPU));
    offsets.push_back(offset);
    offset += table.numel();
  }
  const auto type = initial.scalar_type();
  const auto run = [&]<typename Real>(Real) {
    return Filter<Real>::apply(beliefs.to(torch::kCPU, type).contiguous(), values.to(torch::kCPU).contiguous(),
                               initial.to(torch::kCPU).contiguous(), torch::cat(flat), reading, offsets)
        .to(beliefs.device());
  };
  return type == torch::kFloat64 ? run(double{}) : run(float{});
}

std::vector<torch::Tensor> mix_tables(const torch::Tensor& beliefs, const std::vector<torch::Tensor>& tables,
                                      const ReadingOrder& reading) {
  check_dimensions(beliefs);
  const auto steps = planned_steps(reading);
  check_read(steps, beliefs.size(1), beliefs.size(2));
  const auto rows = beliefs.to(torch::kCPU, torch::kFloat32).contiguous();
  std::vector<torch::Tensor> mixed;
  for (const auto& step : steps) {
    const auto table = tables[static_cast<std::size_t>(step.kind)].to(torch::kCPU, torch::kFloat32).contiguous();
    const auto states = table.size(2);
    auto result = torch::empty({rows.size(0), step.emitted, states, states}, rows.options());
    mix_tables(step, table.const_data_ptr<float>(), states,
               {rows.const_data_ptr<float>(), rows.size(0), rows.size(1), rows.size(2), {}},
               result.mutable_data_ptr<float>());
    mixed.push_back(result);
  }
  return mixed;
}

}  // namespace anesi
