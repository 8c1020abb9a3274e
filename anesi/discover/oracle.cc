#include "anesi/discover/oracle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

// Between two looks at the clock.
constexpr double kSecondsAtOnce = 0.1;
constexpr std::int64_t kMostRows = 1 << 16;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

Oracle::Oracle(const Problem& problem, const DiscoverLimits& limits) : problem_(problem), limits_(limits) {}

double Oracle::seconds() const { return seconds_since(begin_); }

torch::Tensor Oracle::ask(const torch::Tensor& worlds) {
  const auto rows = worlds.size(0);
  if (calls_ + rows > std::min(allowed_, limits_.calls))
    throw LimitReached(fmt::format("{} calls of c were not enough", std::min(allowed_, limits_.calls)));
  auto result = torch::empty({rows, outputs().variables()}, torch::kInt64);
  for (std::int64_t begin = 0; begin < rows;) {
    if (seconds_left() <= 0) throw LimitReached(fmt::format("{:.3g} s were not enough", limits_.seconds));
    const auto end = std::min(rows, begin + rows_at_once_);
    const auto some = worlds.slice(0, begin, end);
    const auto started = std::chrono::steady_clock::now();
    const auto answers = apply(problem_, some);
    const double each = seconds_since(started) / static_cast<double>(end - begin);
    calls_ += end - begin;
    check(some, answers);
    result.slice(0, begin, end).copy_(answers);
    // A function of unknown cost is first asked about one world, then about more at a time.
    rows_at_once_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(kSecondsAtOnce / (each + 1e-9)), 1,
                                             std::min(4 * rows_at_once_, kMostRows));
    begin = end;
  }
  return result;
}

void Oracle::check(const torch::Tensor& worlds, const torch::Tensor& outputs) const {
  const auto size = this->outputs().variables();
  if (outputs.dim() != 2 || outputs.size(0) != worlds.size(0) || outputs.size(1) != size) {
    throw Error(fmt::format("c gave outputs of shape ({}) for {} worlds; {} output variables are declared",
                            fmt::join(outputs.sizes(), ", "), worlds.size(0), size));
  }
  const auto domains = tensor_of(this->outputs().domains());
  const auto wrong = ((outputs < 0) | (outputs >= domains)).any(1);
  if (!wrong.any().item<bool>()) return;
  const auto row = wrong.nonzero()[0][0].item<std::int64_t>();
  const auto output = values_of(outputs[row]);
  if (const auto complaint = this->outputs().complaint(output); !complaint.empty()) {
    throw Error(fmt::format("the output of world ({}) is outside its space: {}",
                            fmt::join(values_of(worlds[row]), ", "), complaint));
  }
  throw LimitReached("outputs differ in length, which no memory here can say");
}

}  // namespace anesi
