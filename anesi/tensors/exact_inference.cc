#include "anesi/tensors/exact_inference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

// A number for each row of beliefs, its derivative by them and, unless it is null, its second one times a direction.
// They keep what they ask about.
struct OfBeliefs {
  std::function<void(LogBeliefRows logs, std::span<double> values, GradientRows gradient)> find;
  std::function<void(LogBeliefRows logs, LogBeliefRows direction, GradientRows result)> hessian_product;
};

std::span<double> span_of(torch::Tensor& numbers) {
  return {numbers.mutable_data_ptr<double>(), as_size(numbers.numel())};
}

class NoFurther final : public torch::autograd::Function<NoFurther> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext*, const torch::Tensor& gradient,
                               const torch::Tensor& /*inputs*/, const torch::Tensor& /*upstream*/) {
    return gradient.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list&) {
    throw UsageError("exact inference has no further derivatives: log-probabilities have second ones, entropies first");
  }
};

struct Held final : torch::CustomClassHolder {
  explicit Held(std::shared_ptr<const OfBeliefs> function) : asked(std::move(function)) {}
  std::shared_ptr<const OfBeliefs> asked;
};

c10::IValue hold(std::shared_ptr<const OfBeliefs> asked) {
  return c10::IValue::make_capsule(c10::make_intrusive<Held>(std::move(asked)));
}
std::shared_ptr<const OfBeliefs> held_by(torch::autograd::AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<Held>(context->saved_data["asked"].toCapsule())->asked;
}

// upstream * gradient, differentiable in upstream and in the beliefs that the gradient was computed at.
class ScaledGradient final : public torch::autograd::Function<ScaledGradient> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& logs,
                               const torch::Tensor& upstream, const torch::Tensor& gradient,
                               const std::shared_ptr<const OfBeliefs>& asked) {
    context->save_for_backward({logs, upstream, gradient});
    context->saved_data["asked"] = hold(asked);
    return gradient * upstream.view({-1, 1, 1});
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& further) {
    const auto saved = context->get_saved_variables();
    const auto direction = further[0].detach().contiguous(), logs = saved[0].detach().contiguous();
    auto product = torch::zeros_like(logs);
    held_by(context)->hessian_product(belief_rows_of(logs), belief_rows_of(direction), gradient_rows_of(product));
    const auto by_logs = product * saved[1].detach().view({-1, 1, 1});
    const auto by_upstream = (saved[2] * direction).sum({1, 2});
    return {differentiable_no_further(by_logs, saved[0], further[0]),
            differentiable_no_further(by_upstream, saved[0], further[0]), torch::Tensor(), torch::Tensor()};
  }
};

// The gradient is found on the way forward, since both take the same pass.
class BackendCall final : public torch::autograd::Function<BackendCall> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& logs,
                               const std::shared_ptr<const OfBeliefs>& asked) {
    const auto given = logs.detach().contiguous();
    auto values = torch::empty({logs.size(0)}, torch::kFloat64), gradient = torch::zeros_like(given);
    asked->find(belief_rows_of(given), span_of(values), gradient_rows_of(gradient));
    context->save_for_backward({logs, gradient});
    context->saved_data["asked"] = hold(asked);
    return values;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& upstream) {
    const auto saved = context->get_saved_variables();
    const auto asked = held_by(context);
    if (!torch::GradMode::is_enabled()) return {saved[1] * upstream[0].view({-1, 1, 1}), torch::Tensor()};
    if (asked->hessian_product) return {ScaledGradient::apply(saved[0], upstream[0], saved[1], asked), torch::Tensor()};
    const auto gradient = saved[1] * upstream[0].detach().view({-1, 1, 1});
    return {differentiable_no_further(gradient, saved[0], upstream[0]), torch::Tensor()};
  }
};

torch::Tensor ask(const torch::Tensor& logs, OfBeliefs function) {
  if (torch::GradMode::is_enabled() && logs.requires_grad()) {
    return BackendCall::apply(logs, std::make_shared<const OfBeliefs>(std::move(function)));
  }
  const auto given = logs.contiguous();
  auto values = torch::empty({logs.size(0)}, torch::kFloat64);
  function.find(belief_rows_of(given), span_of(values), {});
  return values;
}

// Rows on the CPU, in one piece.
torch::Tensor in_rows(const torch::Tensor& outputs) {
  if (outputs.dim() != 2) {
    throw Error(fmt::format("exact inference: outputs of shape [{}]; [batch, outputs] is expected",
                            fmt::join(outputs.sizes(), ", ")));
  }
  return outputs.to(torch::kCPU, torch::kInt64).contiguous();
}

Ranked padded(const std::vector<RankedPoints>& ranked, std::int64_t variables) {
  std::int64_t most = 0;
  for (const auto& row : ranked) most = std::max(most, row.points.size());
  const auto batch = std::ssize(ranked);
  auto values = torch::full({batch, most, variables}, kUnset, torch::kInt64);
  auto log_probs = torch::full({batch, most}, kLogOfZero, torch::kFloat64);
  for (std::int64_t row = 0; row < batch; ++row) {
    const auto& [points, logs, proven] = ranked[as_size(row)];
    std::ranges::copy(points.values(), values.mutable_data_ptr<std::int64_t>() + row * most * variables);
    std::ranges::copy(logs, log_probs.mutable_data_ptr<double>() + row * most);
  }
  return {values, log_probs};
}

}  // namespace

torch::Tensor differentiable_no_further(const torch::Tensor& gradient, const torch::Tensor& inputs,
                                        const torch::Tensor& upstream) {
  return torch::GradMode::is_enabled() ? NoFurther::apply(gradient, inputs, upstream) : gradient;
}

torch::Tensor ExactInference::log_prob(const LogBeliefs& beliefs, const torch::Tensor& outputs) const {
  const auto wanted = in_rows(outputs);
  return ask(beliefs.logs,
             {[backend = backend_, wanted](LogBeliefRows logs, std::span<double> values, GradientRows gradient) {
                backend->log_prob({logs, rows_of(wanted)}, values, gradient);
              },
              [backend = backend_, wanted](LogBeliefRows logs, LogBeliefRows direction, GradientRows result) {
                backend->hessian_product({logs, rows_of(wanted)}, direction, result);
              }});
}

torch::Tensor ExactInference::log_prob(const torch::Tensor& beliefs, const torch::Tensor& outputs) const {
  return through_logs(beliefs, worlds(), [&](const LogBeliefs& logs) { return log_prob(logs, outputs); });
}

torch::Tensor ExactInference::log_prob_of_others(const LogBeliefs& beliefs, const torch::Tensor& outputs) const {
  const auto wanted = in_rows(outputs);
  return ask(beliefs.logs,
             {[backend = backend_, wanted](LogBeliefRows logs, std::span<double> values, GradientRows gradient) {
                backend->log_prob_of_others({logs, rows_of(wanted)}, values, gradient);
              },
              [backend = backend_, wanted](LogBeliefRows logs, LogBeliefRows direction, GradientRows result) {
                backend->hessian_product({logs, rows_of(wanted)}, direction, result, Backend::Of::kOthers);
              }});
}

torch::Tensor ExactInference::label_log_prob(const LogBeliefs& beliefs, const Observations& labels,
                                             WholeWorlds whole) const {
  struct Kept {
    torch::Tensor outputs, holds, worlds;
    LabelRows rows() const {
      return {
          outputs.defined() ? rows_of(outputs) : PointRows(),
          holds.defined() ? std::span(holds.const_data_ptr<bool>(), as_size(holds.numel())) : std::span<const bool>(),
          worlds.defined() ? rows_of(worlds) : PointRows()};
    }
  };
  const Kept kept{labels.outputs.defined() ? in_rows(labels.outputs) : torch::Tensor(),
                  labels.holds.defined() ? labels.holds.to(torch::kCPU, torch::kBool).contiguous() : torch::Tensor(),
                  labels.worlds.defined() ? in_rows(labels.worlds) : torch::Tensor()};
  return ask(beliefs.logs,
             {[backend = backend_, kept, whole](LogBeliefRows logs, std::span<double> values, GradientRows gradient) {
                anesi::label_log_prob(*backend, logs, kept.rows(), values, gradient, whole);
              },
              [backend = backend_, kept, whole](LogBeliefRows logs, LogBeliefRows direction, GradientRows result) {
                label_hessian_product(*backend, logs, kept.rows(), direction, result, whole);
              }});
}

MostProbable ExactInference::most_probable(const LogBeliefs& beliefs, const torch::Tensor& outputs) const {
  const auto logs = beliefs.logs.detach().contiguous(), wanted = in_rows(outputs);
  auto found = torch::zeros({logs.size(0), worlds().variables()}, torch::kInt64);
  auto log_probs = torch::zeros({logs.size(0)}, torch::kFloat64);
  backend_->most_probable({belief_rows_of(logs), rows_of(wanted)}, mutable_rows_of(found), span_of(log_probs));
  return {found, log_probs};
}

MostProbable ExactInference::most_probable(const torch::Tensor& beliefs, const torch::Tensor& outputs) const {
  const auto found = most_probable(LogBeliefs::of(beliefs), outputs);
  return {found.worlds.to(beliefs.device()), found.log_prob.to(beliefs.device())};
}

Ranked ExactInference::most_probable(const LogBeliefs& beliefs, const torch::Tensor& outputs, std::int64_t top) const {
  const auto logs = beliefs.logs.detach().contiguous(), wanted = in_rows(outputs);
  return padded(backend_->ranked_worlds({belief_rows_of(logs), rows_of(wanted)}, top), worlds().variables());
}

Ranked ExactInference::explain(const LogBeliefs& beliefs, const torch::Tensor& outputs, std::int64_t top) const {
  const torch::NoGradGuard no_gradients;
  auto found = most_probable(beliefs, outputs, top);
  const auto total = log_prob(beliefs, outputs).unsqueeze(1);
  found.log_prob = (found.log_prob - total.masked_fill(total.isneginf(), 0)).clamp_max(0);
  return found;
}

Ranked ExactInference::most_probable_outputs(const LogBeliefs& beliefs, std::int64_t top) const {
  const auto logs = beliefs.logs.detach().contiguous();
  return padded(backend_->ranked_outputs(belief_rows_of(logs), top), backend_->outputs().variables());
}

torch::Tensor ExactInference::sample(const LogBeliefs& beliefs, const torch::Tensor& outputs,
                                     at::Generator generator) const {
  const auto logs = beliefs.logs.detach().contiguous(), wanted = in_rows(outputs);
  auto drawn = torch::zeros({logs.size(0), worlds().variables()}, torch::kInt64);
  Random random(draw_seed(std::move(generator)));
  backend_->sample({belief_rows_of(logs), rows_of(wanted)}, random, mutable_rows_of(drawn));
  return drawn;
}

torch::Tensor ExactInference::sample(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                                     at::Generator generator) const {
  return sample(LogBeliefs::of(beliefs), outputs, std::move(generator)).to(beliefs.device());
}

torch::Tensor ExactInference::marginals(const LogBeliefs& beliefs, const torch::Tensor& outputs) const {
  const auto logs = beliefs.logs.detach().contiguous(), wanted = in_rows(outputs);
  auto values = torch::empty({logs.size(0)}, torch::kFloat64), shares = torch::empty_like(logs);
  backend_->log_prob({belief_rows_of(logs), rows_of(wanted)}, span_of(values), gradient_rows_of(shares));
  return shares;
}

torch::Tensor ExactInference::marginals(const torch::Tensor& beliefs, const torch::Tensor& outputs) const {
  return marginals(LogBeliefs::of(beliefs), outputs).to(beliefs.device());
}

torch::Tensor ExactInference::entropy(const torch::Tensor& beliefs, const torch::Tensor& outputs) const {
  const auto wanted = in_rows(outputs);
  const auto find = [backend = backend_, wanted](LogBeliefRows logs, std::span<double> values, GradientRows gradient) {
    backend->entropy({logs, rows_of(wanted)}, values, gradient);
  };
  return ask(LogBeliefs::differentiable(beliefs).logs, {find, nullptr}).to(beliefs.device());
}

}  // namespace anesi
