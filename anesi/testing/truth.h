// What is true of a small problem, from all its worlds.
#pragma once

#include <torch/torch.h>

#include "anesi/core/problem.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"

namespace anesi::toys {

// Every world of a small problem with its probability, in 64 bits.
class Truth {
 public:
  Truth(const Problem& problem, const torch::Tensor& belief)
      : worlds_(points_of(problem.worlds())),
        outputs_(apply(problem, worlds_)),
        prob_(belief.to(torch::kFloat64)
                  .expand({worlds_.size(0), -1, -1})
                  .gather(2, worlds_.unsqueeze(2))
                  .prod(1)
                  .squeeze(1)),
        domain_(belief.size(1)) {}

  // As if only worlds that agree with what is known were there; kUnset leaves a variable open.
  Truth where(const torch::Tensor& known) const {
    auto some = *this;
    some.prob_ = prob_ * (worlds_ == known).logical_or(known == kUnset).all(1);
    return some;
  }
  Truth giving(const torch::Tensor& output) const {
    auto some = *this;
    some.prob_ = prob_ * (outputs_ == output).all(1);
    return some;
  }

  double total() const { return prob_.sum().item<double>(); }
  double of_output(const torch::Tensor& output) const { return giving(output).total(); }
  // Of each variable's values, [variables, domain], given that one of these worlds is it.
  torch::Tensor marginals() const {
    auto result = torch::zeros({worlds_.size(1), domain_}, torch::kFloat64);
    for (std::int64_t variable = 0; variable < worlds_.size(1); ++variable) {
      result[variable].index_add_(0, worlds_.select(1, variable), prob_ / total());
    }
    return result;
  }
  // Worlds, most probable first, and their probability among these.
  torch::Tensor ranked_worlds() const { return worlds_.index_select(0, prob_.argsort(0, /*descending=*/true)); }
  torch::Tensor ranked_prob() const { return std::get<0>((prob_ / total()).sort(0, /*descending=*/true)); }
  const torch::Tensor& worlds() const { return worlds_; }
  torch::Tensor prob() const { return prob_ / total(); }

 private:
  torch::Tensor worlds_, outputs_, prob_;
  std::int64_t domain_;
};

}  // namespace anesi::toys
