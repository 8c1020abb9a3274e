#include "anesi/estimate/outcome_bins.h"

#include "anesi/core/error.h"
#include "anesi/estimate/outcome_model.h"

namespace anesi {

OutcomeBins::OutcomeBins(const torch::Tensor& seen, std::int64_t bins) {
  const auto [sorted, order, counts] = torch::unique_dim(seen, 0, /*sorted=*/true, false, /*return_counts=*/true);
  const auto low = sorted[0].item<double>(), high = sorted[-1].item<double>();
  // An edge lies half-way between two different outcomes, as near to its quantile as may be; few different outcomes
  // have a bin each.
  if (sorted.size(0) > 1) {
    auto middles = (sorted.slice(0, 1) + sorted.slice(0, 0, -1)) / 2;
    if (middles.size(0) >= bins) {
      const auto below = counts.cumsum(0).slice(0, 0, -1).to(torch::kFloat64) / static_cast<double>(seen.size(0));
      const auto wanted = torch::arange(1, bins, torch::kFloat64) / static_cast<double>(bins);
      const auto places = torch::bucketize(wanted, below.contiguous()).clamp_max(middles.size(0) - 1);
      middles = std::get<0>(torch::unique_dim(middles.index_select(0, places), 0));
    }
    inner_edges_ = middles.contiguous();
  } else {
    inner_edges_ = torch::zeros({0}, torch::kFloat64);
  }
  const auto count = inner_edges_.size(0) + 1;
  const auto bin = bin_of(seen);
  const auto sums = torch::zeros({count}, torch::kFloat64).index_add_(0, bin, seen);
  centres_ = sums / torch::bincount(bin, {}, count).clamp_min(1);
  const auto margin = std::max(1e-6, (high - low) / static_cast<double>(2 * count));
  const auto ends = torch::cat({torch::full({1}, low - margin, torch::kFloat64), inner_edges_,
                                torch::full({1}, high + margin, torch::kFloat64)});
  widths_ = (ends.slice(0, 1) - ends.slice(0, 0, -1)).clamp_min(1e-12);
}

OutcomeBins::OutcomeBins(const NamedTensors& state)
    : inner_edges_(state_tensor(state, "inner_edges", torch::kFloat64, {-1})),
      centres_(state_tensor(state, "centres", torch::kFloat64, {inner_edges_.size(0) + 1})),
      widths_(state_tensor(state, "widths", torch::kFloat64, {inner_edges_.size(0) + 1})) {
  if (!(widths_ > 0).all().item<bool>()) throw Error("estimator state: a bin has no width");
}

NamedTensors OutcomeBins::state() const {
  return {{"inner_edges", inner_edges_}, {"centres", centres_}, {"widths", widths_}};
}

}  // namespace anesi
