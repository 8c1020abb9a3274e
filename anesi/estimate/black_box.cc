#include "anesi/estimate/black_box.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "anesi/core/error.h"

namespace anesi {
namespace {

constexpr std::int64_t kMostRowsAskedAgain = 1000;

}  // namespace

// Where g fails on many draws at once, they are asked about one by one until it fails in the same way.
torch::Tensor BlackBox::asked(const Draws& draws) {
  try {
    calls_ += draws.rows();
    return function_(draws);
  } catch (const std::exception& error) {
    const std::string what = error.what();
    std::int64_t guilty = 0;
    for (std::int64_t row = 0; draws.rows() > 1 && row < std::min(draws.rows(), kMostRowsAskedAgain); ++row) {
      try {
        ++calls_;
        function_(draws.slice(row, row + 1));
      } catch (const std::exception&) {
        guilty = row;
        break;
      }
    }
    const auto first_line = what.substr(0, what.find('\n'));
    throw Error(fmt::format("g fails at z = {}: {}", in_words(draws, guilty), first_line));
  }
}

void BlackBox::require_shape(const torch::Tensor& answer, const Draws& draws) const {
  const auto where = fmt::format("asked about {} draws, the first z = {}", draws.rows(), in_words(draws, 0));
  if (!answer.defined()) throw UsageError(fmt::format("g returns nothing, {}", where));
  if (answer.is_complex()) throw UsageError(fmt::format("g returns complex numbers, {}", where));
  const bool flat = outcomes_ == 1 && answer.dim() == 1 && answer.size(0) == draws.rows();
  if (flat || (answer.dim() == 2 && answer.size(0) == draws.rows() && answer.size(1) == outcomes_)) return;
  throw UsageError(fmt::format("g returns shape ({}), {}; expected ({}, {})", fmt::join(answer.sizes(), ", "), where,
                               draws.rows(), outcomes_));
}

torch::Tensor BlackBox::operator()(const Draws& draws) {
  if (draws.rows() == 0) return torch::zeros({0, outcomes_}, torch::kFloat64);
  const auto answer = asked(draws);
  require_shape(answer, draws);
  auto result = answer.to(torch::kCPU, torch::kFloat64).reshape({draws.rows(), outcomes_});
  if (const auto bad = result.detach().isfinite().logical_not().nonzero(); bad.size(0) > 0) {
    const auto row = bad[0][0].item<std::int64_t>(), outcome = bad[0][1].item<std::int64_t>();
    throw UsageError(fmt::format("g returns {} as outcome {} of z = {}", result[row][outcome].item<double>(), outcome,
                                 in_words(draws, row)));
  }
  return result;
}

}  // namespace anesi
