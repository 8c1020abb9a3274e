#include "anesi/models/prune_step.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"

namespace anesi {

torch::Tensor prune_step(const torch::Tensor& log_probs, const torch::Tensor& chosen, std::int64_t variable,
                         const Pruner& pruner) {
  const auto rows = log_probs.size(0), domain = log_probs.size(1), variables = chosen.size(1);
  const auto partial = chosen.to(torch::kCPU).contiguous();
  auto allowed = torch::zeros({rows, domain}, torch::kBool);
  const auto* const values = partial.const_data_ptr<std::int64_t>();
  auto* const masks = allowed.mutable_data_ptr<bool>();
  parallel_for(rows, 64, [&](std::int64_t begin, std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      const Values prefix(values + row * variables, static_cast<std::size_t>(variables));
      const Mask mask(masks + row * domain, static_cast<std::size_t>(domain));
      pruner.allow_outputs(prefix, variable, mask);
      if (std::ranges::none_of(mask, [](bool value) { return value; })) {
        throw Error(fmt::format("pruner: no completion of ({}) at variable {} ({} marks a value not chosen yet)",
                                fmt::join(prefix, ", "), variable, kUnset));
      }
    }
  });
  return log_probs.masked_fill(allowed.logical_not().to(log_probs.device()), -INFINITY).log_softmax(1);
}

}  // namespace anesi
