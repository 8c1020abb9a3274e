#include "anesi/tensors/beliefs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "anesi/core/error.h"

namespace anesi {
namespace {

// 1 inside each variable's domain, 0 past it: [variables, largest domain].
torch::Tensor domain_mask(const Space& space) {
  auto mask = torch::zeros({space.variables(), space.largest_domain()});
  for (std::int64_t variable = 0; variable < space.variables(); ++variable) {
    mask[variable].slice(0, 0, space.domain(variable)).fill_(1);
  }
  return mask;
}

std::string complaint(const float* row, std::int64_t domain, std::int64_t width) {
  float sum = 0;
  for (std::int64_t value = 0; value < width; ++value) {
    const float probability = row[value];
    if (std::isnan(probability)) return "not a number";
    if (probability < 0) return fmt::format("value {} has negative probability {}", value, probability);
    if (value >= domain && probability != 0) {
      return fmt::format("value {} has probability {} but the variable has {} values", value, probability, domain);
    }
    sum += probability;
  }
  if (!(std::abs(sum - 1) < 1e-3F)) return fmt::format("probabilities sum to {}, not 1", sum);
  return "";
}

}  // namespace

void check_beliefs(const torch::Tensor& beliefs, const Space& worlds) {
  if (beliefs.dim() != 3 || beliefs.size(1) != worlds.variables() || beliefs.size(2) != worlds.largest_domain() ||
      !beliefs.is_floating_point()) {
    throw Error(fmt::format("beliefs: shape ({}), expected (batch, {}, {}) of floating-point numbers",
                            fmt::join(beliefs.sizes(), ", "), worlds.variables(), worlds.largest_domain()));
  }
  const auto rows = beliefs.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  const auto* row = rows.const_data_ptr<float>();
  for (std::int64_t example = 0; example < rows.size(0); ++example) {
    for (std::int64_t variable = 0; variable < rows.size(1); ++variable, row += rows.size(2)) {
      if (const auto what = complaint(row, worlds.domain(variable), rows.size(2)); !what.empty()) {
        throw Error(fmt::format("beliefs: example {}, variable {}: {}", example, variable, what));
      }
    }
  }
}

torch::Tensor certain_beliefs(const torch::Tensor& worlds, const Space& space) {
  auto beliefs = torch::zeros({worlds.size(0), space.variables(), space.largest_domain()},
                              worlds.options().dtype(torch::kFloat32));
  return beliefs.scatter_(2, worlds.unsqueeze(2), 1.0);
}

torch::Tensor uniform_beliefs(std::int64_t batch, const Space& space) {
  const auto mask = domain_mask(space);
  return (mask / mask.sum(1, /*keepdim=*/true)).unsqueeze(0).repeat({batch, 1, 1});
}

torch::Tensor sample_worlds(const torch::Tensor& beliefs, at::Generator generator) {
  // By inversion: the first value whose cumulative probability exceeds a uniform draw. Rounding may leave the total a
  // little below one, so the draw is scaled by it and kept just under it; a value of probability zero is never chosen.
  const auto cumulative = beliefs.detach().cumsum(2);  // [batch, variables, domain]
  const auto draws = torch::rand({beliefs.size(0), beliefs.size(1), 1}, std::move(generator),
                                 torch::TensorOptions().dtype(beliefs.scalar_type()))
                         .clamp_max(1 - 1e-6)
                         .to(beliefs.device());
  const auto total = cumulative.slice(2, cumulative.size(2) - 1);
  return (cumulative <= draws * total).sum(2);
}

torch::Tensor most_likely_worlds(const torch::Tensor& beliefs) { return beliefs.argmax(2); }

torch::Tensor world_log_prob(const torch::Tensor& beliefs, const torch::Tensor& worlds) {
  return beliefs.gather(2, worlds.unsqueeze(2)).squeeze(2).log().sum(1);
}

}  // namespace anesi
