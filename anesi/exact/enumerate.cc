#include "anesi/exact/enumerate.h"

#include <fmt/format.h>

#include "anesi/core/error.h"
#include "anesi/core/rows.h"

namespace anesi {
namespace {

constexpr std::int64_t kNumbersAtOnce = 1 << 24;

class Enumeration final : public ExactInference {
 public:
  explicit Enumeration(const Problem& problem) : space_(problem.worlds()) {
    if (space_.points() > kMostWorldsEnumerated) {
      throw Error(fmt::format("enumeration: there are {:.3g} worlds; it takes up to {:.3g}", space_.points(),
                              kMostWorldsEnumerated));
    }
    worlds_ = points_of(space_);
    outputs_ = problem.apply(worlds_);
  }

  torch::Tensor log_prob(const torch::Tensor& beliefs, const torch::Tensor& outputs) const override {
    std::vector<torch::Tensor> parts;
    for_each_piece(beliefs, outputs, [&](const torch::Tensor& weights, const torch::Tensor& scale) {
      // A gradient through the logarithm of zero would be no number.
      const auto total = weights.sum(1), impossible = total == 0;
      parts.push_back(total.masked_fill(impossible, 1).log().masked_fill(impossible, -INFINITY) + scale);
    });
    return torch::cat(parts);
  }

  MostProbable most_probable(const torch::Tensor& beliefs, const torch::Tensor& outputs) const override {
    const torch::NoGradGuard no_gradients;
    std::vector<torch::Tensor> worlds, log_probs;
    for_each_piece(beliefs, outputs, [&](const torch::Tensor& weights, const torch::Tensor& scale) {
      const auto [best, index] = weights.max(1);
      worlds.push_back(worlds_.index_select(0, index));
      log_probs.push_back(best.log() + scale);
    });
    return {torch::cat(worlds), torch::cat(log_probs)};
  }

  torch::Tensor sample(const torch::Tensor& beliefs, const torch::Tensor& outputs,
                       at::Generator generator) const override {
    const torch::NoGradGuard no_gradients;
    std::vector<torch::Tensor> worlds;
    for_each_piece(beliefs, outputs, [&](const torch::Tensor& weights, const torch::Tensor&) {
      if ((weights.sum(1) <= 0).any().item<bool>()) throw Error("no world of positive probability gives the output");
      worlds.push_back(worlds_.index_select(0, weights.multinomial(1, true, generator).squeeze(1)));
    });
    return torch::cat(worlds);
  }

 private:
  // Calls visit(weights, scale) for a few beliefs at a time: weights [rows, worlds] are zero where c(w) is not the
  // output, and p(w|P) = weights * exp(scale) elsewhere. Each belief is scaled by its largest value first, so that only
  // what is impossible beside the most likely world underflows.
  template <typename Visit>
  void for_each_piece(const torch::Tensor& beliefs, const torch::Tensor& outputs, Visit visit) const {
    const auto rows = std::max<std::int64_t>(1, kNumbersAtOnce / worlds_.size(0));
    for (std::int64_t begin = 0; begin < beliefs.size(0); begin += rows) {
      const auto end = std::min(begin + rows, beliefs.size(0));
      const auto piece = beliefs.slice(0, begin, end).to(torch::kCPU, torch::kFloat64);
      const auto largest = std::get<0>(piece.detach().max(2, /*keepdim=*/true));
      const auto scaled = piece / largest;
      auto weights = torch::ones({end - begin, 1}, torch::kFloat64);
      for (std::int64_t variable = 0; variable < space_.variables(); ++variable) {
        const auto row = scaled.select(1, variable).slice(1, 0, space_.domain(variable));
        weights = (weights.unsqueeze(2) * row.unsqueeze(1)).flatten(1);
      }
      auto agrees = torch::ones({end - begin, worlds_.size(0)}, torch::kBool);
      for (std::int64_t variable = 0; variable < outputs_.size(1); ++variable) {
        const auto wanted = outputs.slice(0, begin, end).slice(1, variable, variable + 1).to(torch::kCPU);
        agrees.logical_and_((outputs_.select(1, variable).unsqueeze(0) == wanted).logical_or_(wanted == kUnset));
      }
      visit(weights * agrees, largest.squeeze(2).log().sum(1));
    }
  }

  Space space_;
  torch::Tensor worlds_, outputs_;  // every world and its output
};

}  // namespace

std::unique_ptr<ExactInference> make_enumeration(const Problem& problem) {
  return std::make_unique<Enumeration>(problem);
}

}  // namespace anesi
