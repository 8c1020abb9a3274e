#include "anesi/models/enumerate.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <tuple>

#include "anesi/core/deterministic.h"
#include "anesi/core/error.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

constexpr std::int64_t kNumbersAtOnce = 1 << 24;

class Enumeration final : public ExactInference {
 public:
  explicit Enumeration(const Problem& problem) : ExactInference(problem.worlds()) {
    const auto& space = problem.worlds();
    if (space.points() > kMostWorldsEnumerated) {
      throw Error(fmt::format("enumeration: there are {:.3g} worlds; it takes up to {:.3g}", space.points(),
                              kMostWorldsEnumerated));
    }
    worlds_ = points_of(space);
    outputs_ = apply(problem, worlds_);
  }

  bool ranks_outputs() const override { return true; }
  bool has_outputs_that_end() const override { return (outputs_ == kNone).any().item<bool>(); }
  Ranked most_probable_outputs(const LogBeliefs& beliefs, std::int64_t top) const override {
    const torch::NoGradGuard no_gradients;
    std::call_once(grouped_, [&] {
      std::tie(distinct_, of_world_, std::ignore) = torch::unique_dim(outputs_, 0, /*sorted=*/true, true);
    });
    const auto found = std::min(top, distinct_.size(0));
    std::vector<torch::Tensor> outputs{torch::empty({0, found, outputs_.size(1)}, torch::kInt64)};
    std::vector<torch::Tensor> log_probs{torch::empty({0, found}, torch::kFloat64)};
    for_each_piece(beliefs.logs.detach(), [&](std::int64_t, std::int64_t, const torch::Tensor& weights) {
      // Relative to each output's own most likely world, so that unlikely outputs keep their digits.
      const auto index = of_world_.unsqueeze(0).expand_as(weights);
      const auto largest = torch::full({weights.size(0), distinct_.size(0)}, kLogOfZero, weights.options())
                               .scatter_reduce(1, index, weights, "amax");
      const auto of_each = largest.masked_fill(largest.isneginf(), 0);
      const auto sums =
          torch::zeros_like(largest).scatter_add(1, index, (weights - of_each.gather(1, index)).exp()).log() + of_each;
      const auto [best, place] = sums.topk(found, 1);
      outputs.push_back(distinct_.index_select(0, place.flatten()).view({weights.size(0), found, -1}));
      log_probs.push_back(best);
    });
    return {torch::cat(outputs), torch::cat(log_probs)};
  }

 private:
  torch::Tensor find_log_prob(const torch::Tensor& logs, const torch::Tensor& outputs) const override {
    return sum_over(logs, [&](std::int64_t begin, std::int64_t end) { return agreeing(outputs, begin, end); });
  }

  torch::Tensor find_log_prob_of_others(const torch::Tensor& logs, const torch::Tensor& outputs) const override {
    return sum_over(logs, [&](std::int64_t begin, std::int64_t end) { return ~agreeing(outputs, begin, end); });
  }

  MostProbable find_most_probable(const torch::Tensor& logs, const torch::Tensor& outputs) const override {
    const auto found = rank_worlds(logs, outputs, 1);
    return {found.values.select(1, 0), found.log_prob.select(1, 0)};
  }

  Ranked rank_worlds(const torch::Tensor& logs, const torch::Tensor& outputs, std::int64_t top) const override {
    const auto found = std::min(top, worlds_.size(0));
    std::vector<torch::Tensor> worlds, log_probs;
    for_each_piece(logs, [&](std::int64_t begin, std::int64_t end, const torch::Tensor& weights) {
      const auto [best, index] = weights.masked_fill(~agreeing(outputs, begin, end), kLogOfZero).topk(found, 1);
      worlds.push_back(worlds_.index_select(0, index.flatten()).view({end - begin, found, -1}));
      log_probs.push_back(best);
    });
    return {torch::cat(worlds), torch::cat(log_probs)};
  }

  torch::Tensor draw(const torch::Tensor& logs, const torch::Tensor& outputs, at::Generator generator) const override {
    std::vector<torch::Tensor> worlds;
    for_each_piece(logs, [&](std::int64_t begin, std::int64_t end, const torch::Tensor& weights) {
      const auto possible = weights.masked_fill(~agreeing(outputs, begin, end), kLogOfZero);
      const auto largest = possible.amax(1, /*keepdim=*/true);
      if (largest.isneginf().any().item<bool>()) throw Error("no world of positive probability gives the output");
      const auto drawn = (possible - largest).exp().multinomial(1, true, generator).squeeze(1);
      worlds.push_back(worlds_.index_select(0, drawn));
    });
    return torch::cat(worlds);
  }

  // Calls visit(begin, end, weights) for a few rows at a time, with log p(w|P) of every world, [rows, worlds].
  template <typename Visit>
  void for_each_piece(const torch::Tensor& logs, Visit visit) const {
    const auto rows = std::max<std::int64_t>(1, kNumbersAtOnce / worlds_.size(0));
    for (std::int64_t begin = 0; begin < logs.size(0); begin += rows) {
      const auto end = std::min(begin + rows, logs.size(0));
      auto weights = torch::zeros({end - begin, 1}, torch::kFloat64);
      for (std::int64_t variable = 0; variable < worlds().variables(); ++variable) {
        const auto of_values = logs.slice(0, begin, end).select(1, variable).slice(1, 0, worlds().domain(variable));
        weights = (weights.unsqueeze(2) + of_values.unsqueeze(1)).flatten(1);
      }
      visit(begin, end, weights);
    }
  }

  // Which worlds give what is asked for, bool [rows, worlds].
  torch::Tensor agreeing(const torch::Tensor& outputs, std::int64_t begin, std::int64_t end) const {
    auto agrees = torch::ones({end - begin, worlds_.size(0)}, torch::kBool);
    for (std::int64_t variable = 0; variable < outputs_.size(1); ++variable) {
      const auto asked = outputs.slice(0, begin, end).slice(1, variable, variable + 1);
      const auto value = outputs_.select(1, variable).unsqueeze(0);
      const auto negated = (asked < kUnset).logical_and(asked != other_than(0) - value);
      agrees.logical_and_((asked == value).logical_or_(asked == kUnset).logical_or_(negated));
    }
    return agrees;
  }

  template <typename Select>
  torch::Tensor sum_over(const torch::Tensor& logs, Select select) const {
    std::vector<torch::Tensor> parts;
    for_each_piece(logs, [&](std::int64_t begin, std::int64_t end, const torch::Tensor& weights) {
      const auto chosen = weights.masked_fill(~select(begin, end), kLogOfZero);
      // A gradient through the logarithm of zero would be no number.
      const auto impossible = chosen.detach().isneginf().all(1);
      const auto sums = chosen.masked_fill(impossible.unsqueeze(1), 0).logsumexp(1);
      parts.push_back(sums.masked_fill(impossible, kLogOfZero));
    });
    return torch::cat(parts);
  }

  torch::Tensor worlds_, outputs_;  // every world and its output
  mutable std::once_flag grouped_;
  mutable torch::Tensor distinct_, of_world_;  // the outputs that there are, and which of them each world gives
};

}  // namespace

std::unique_ptr<ExactInference> make_enumeration(const Problem& problem) {
  require_deterministic(problem);
  return std::make_unique<Enumeration>(problem);
}

}  // namespace anesi
