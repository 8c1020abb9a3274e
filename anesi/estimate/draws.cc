#include "anesi/estimate/draws.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numbers>

#include "anesi/core/error.h"
#include "anesi/tensors/beliefs.h"

namespace anesi {
namespace {

std::string shape_in_words(const torch::Tensor& tensor) { return fmt::format("({})", fmt::join(tensor.sizes(), ", ")); }

torch::Tensor checked_normals(const torch::Tensor& values, const char* name, std::int64_t batch, std::int64_t normals) {
  if (!values.defined()) {
    if (normals > 0) throw UsageError(fmt::format("{}: missing, of {} normals", name, normals));
    return torch::zeros({batch, 0}, torch::kFloat64);
  }
  if (!values.is_floating_point() || values.dim() != 2 || values.size(0) != batch || values.size(1) != normals) {
    throw UsageError(fmt::format("{}: shape {} of {}, expected floating-point numbers of ({}, {})", name,
                                 shape_in_words(values), c10::toString(values.scalar_type()), batch, normals));
  }
  auto result = values.to(torch::kCPU, torch::kFloat64);
  if (const auto bad = result.detach().isfinite().logical_not().nonzero(); bad.size(0) > 0) {
    throw UsageError(fmt::format("{}: example {}, normal {}: not a number or infinite", name,
                                 bad[0][0].item<std::int64_t>(), bad[0][1].item<std::int64_t>()));
  }
  return result;
}

}  // namespace

Parameters checked(const Parameters& parameters, const Sources& sources) {
  const auto& space = sources.categoricals;
  if (!parameters.beliefs.defined() && !parameters.mean.defined()) throw UsageError("parameters: there are none");
  Parameters result;
  if (space.variables() > 0) {
    if (!parameters.beliefs.defined()) {
      throw UsageError(fmt::format("beliefs: missing, of {} variables", space.variables()));
    }
    result.beliefs = parameters.beliefs.to(torch::kCPU, torch::kFloat64);
    try {
      check_beliefs(result.beliefs.detach(), space);
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
  } else {
    if (parameters.beliefs.defined() && parameters.beliefs.numel() > 0) {
      throw UsageError("beliefs: z has no categoricals");
    }
    result.beliefs = torch::zeros({parameters.batch(), 0, 0}, torch::kFloat64);
    if (parameters.mean.defined() && parameters.mean.dim() > 0) {
      result.beliefs = torch::zeros({parameters.mean.size(0), 0, 0}, torch::kFloat64);
    }
  }
  const auto batch = result.beliefs.size(0);
  result.mean = checked_normals(parameters.mean, "mean", batch, sources.normals);
  result.deviation = checked_normals(parameters.deviation, "deviation", batch, sources.normals);
  if (const auto bad = result.deviation.detach().le(0).nonzero(); bad.size(0) > 0) {
    throw UsageError(fmt::format("deviation: example {}, normal {}: it must be above zero",
                                 bad[0][0].item<std::int64_t>(), bad[0][1].item<std::int64_t>()));
  }
  return result;
}

Parameters repeated(const Parameters& parameters, std::int64_t each) {
  return {parameters.beliefs.repeat_interleave(each, 0), parameters.mean.repeat_interleave(each, 0),
          parameters.deviation.repeat_interleave(each, 0)};
}

Draws draw(const Parameters& parameters, std::int64_t each, at::Generator generator) {
  const torch::NoGradGuard no_gradients;
  const auto many = repeated(parameters.detached(), each);
  Draws draws;
  draws.discrete = many.beliefs.size(1) > 0 ? sample_worlds(many.beliefs, generator)
                                            : torch::zeros({many.beliefs.size(0), 0}, torch::kInt64);
  draws.real = many.mean;
  if (many.mean.size(1) > 0) {
    draws.real = many.mean + many.deviation * torch::randn(many.mean.sizes(), generator, torch::kFloat64);
  }
  return draws;
}

torch::Tensor draw_log_prob(const Parameters& parameters, const Draws& draws) {
  auto result = torch::zeros({draws.rows()}, torch::kFloat64);
  if (draws.discrete.size(1) > 0) result = result + world_log_prob(parameters.beliefs, draws.discrete);
  if (draws.real.size(1) > 0) {
    const auto off = (draws.real - parameters.mean) / parameters.deviation;
    const auto constant = 0.5 * std::log(2 * std::numbers::pi);
    result = result - (0.5 * off.square() + parameters.deviation.log() + constant).sum(1);
  }
  return result;
}

Parameters certain_of(const Draws& draws, const Sources& sources) {
  const auto& space = sources.categoricals;
  return {space.variables() > 0 ? certain_beliefs(draws.discrete, space).to(torch::kFloat64)
                                : torch::zeros({draws.rows(), 0, 0}, torch::kFloat64),
          draws.real, torch::zeros_like(draws.real)};
}

std::string in_words(const Draws& draws, std::int64_t row) {
  const auto discrete = draws.discrete[row].contiguous(), real = draws.real[row].detach().contiguous();
  const std::vector<std::int64_t> whole(discrete.const_data_ptr<std::int64_t>(),
                                        discrete.const_data_ptr<std::int64_t>() + discrete.numel());
  const std::vector<double> others(real.const_data_ptr<double>(), real.const_data_ptr<double>() + real.numel());
  const auto* const between = whole.empty() || others.empty() ? "" : " | ";
  return fmt::format("[{}{}{:.6g}]", fmt::join(whole, ", "), between, fmt::join(others, ", "));
}

Draws joined(const Draws& first, const Draws& second) {
  return {torch::cat({first.discrete, second.discrete}), torch::cat({first.real, second.real})};
}

}  // namespace anesi
