#include "anesi/models/prune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"
#include "anesi/models/next_choice.h"
#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

class SymbolicRollout final : public Rollout {
 public:
  SymbolicRollout(SequenceModel& model, const Context& context, const Pruner& pruner, DeadEnds dead_ends)
      : model_(model),
        pruner_(pruner),
        dead_ends_(dead_ends),
        rollout_(model.begin(context)),
        outputs_(context.explains() ? context.outputs.to(torch::kCPU).contiguous() : torch::Tensor()),
        chosen_(torch::full({context.size(), model.space().variables()}, kUnset, torch::kInt64)) {}

  torch::Tensor next_log_probs() override {
    const auto log_probs = rollout_->next_log_probs();
    const auto allowed = ask(log_probs.size(1)).to(log_probs.device());
    return restrict_choice(log_probs, allowed);
  }

  torch::Tensor ended() const override { return rollout_->ended(); }

  void advance(const torch::Tensor& values) override {
    chosen_.select(1, variable()).copy_(values);
    rollout_->advance(values);
    ++step_;
  }

  void select(const torch::Tensor& rows) override {
    const auto kept = rows.to(torch::kCPU);
    chosen_ = chosen_.index_select(0, kept);
    if (outputs_.defined()) outputs_ = outputs_.index_select(0, kept);
    rollout_->select(rows);
  }

 private:
  std::int64_t variable() const { return model_.order()[step_]; }

  // Which values of the next variable each row may take, bool [rows, domain].
  torch::Tensor ask(std::int64_t domain) const {
    const auto rows = chosen_.size(0);
    // Nothing is left to choose for a row that ended, and nothing to forbid.
    const auto ended = this->ended();
    auto allowed = ended.defined() ? ended.to(torch::kCPU).unsqueeze(1).repeat({1, domain})
                                   : torch::zeros({rows, domain}, torch::kBool);
    auto* const masks = allowed.mutable_data_ptr<bool>();
    const auto row_of = [](const torch::Tensor& matrix, std::int64_t row) {
      return Values(matrix.const_data_ptr<std::int64_t>() + row * matrix.size(1),
                    static_cast<std::size_t>(matrix.size(1)));
    };
    parallel_for(rows, 64, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; ++row) {
        const Mask mask(masks + row * domain, static_cast<std::size_t>(domain));
        if (mask[0]) continue;
        const auto partial = row_of(chosen_, row);
        if (outputs_.defined()) {
          pruner_.allow_worlds(row_of(outputs_, row), partial, variable(), mask);
        } else {
          pruner_.allow_outputs(partial, variable(), mask);
        }
        if (dead_ends_ == DeadEnds::kOfferNothing || std::ranges::find(mask, true) != mask.end()) continue;
        auto message =
            fmt::format("pruner: no completion of {} ({}) at variable {} ({} marks a value not chosen yet)",
                        outputs_.defined() ? "world" : "output", fmt::join(partial, ", "), variable(), kUnset);
        if (outputs_.defined()) message += fmt::format(" for output ({})", fmt::join(row_of(outputs_, row), ", "));
        throw Error(message);
      }
    });
    return allowed;
  }

  SequenceModel& model_;
  const Pruner& pruner_;
  DeadEnds dead_ends_;
  std::unique_ptr<Rollout> rollout_;
  torch::Tensor outputs_;  // int64 [rows, outputs] where worlds are chosen
  torch::Tensor chosen_;   // int64 [rows, variables]
  std::size_t step_ = 0;
};

}  // namespace

torch::Tensor restrict_choice(const torch::Tensor& log_probs, const torch::Tensor& allowed) {
  const auto forbidden = allowed.logical_not();
  const auto kept = log_probs.masked_fill(forbidden, -INFINITY);
  const auto lost = kept.isneginf().all(1, /*keepdim=*/true);
  const auto even = torch::where(lost, torch::zeros_like(kept).masked_fill(forbidden, -INFINITY), kept);
  const auto nothing = forbidden.all(1, /*keepdim=*/true);
  if (!nothing.any().item<bool>()) return even.log_softmax(1);
  return even.masked_fill(nothing, 0).log_softmax(1).masked_fill(nothing, -INFINITY);
}

std::unique_ptr<Rollout> SymbolicPruning::begin(SequenceModel& model, const Context& context) const {
  return std::make_unique<SymbolicRollout>(model, context, *pruner_, dead_ends_);
}

std::unique_ptr<Rollout> begin(SequenceModel& model, const Context& context, const Pruning* pruning) {
  return pruning == nullptr ? model.begin(context) : pruning->begin(model, context);
}

torch::Tensor log_prob(SequenceModel& model, const Context& context, const torch::Tensor& values,
                       const Pruning* pruning) {
  if (pruning == nullptr) return model.log_prob(context, values);
  const auto rollout = pruning->begin(model, context);
  auto total = torch::zeros({context.size()}, context.beliefs.options());
  for (const auto variable : model.order()) {
    const auto value = values.select(1, variable);
    total = total + next_choice(*rollout).log_prob(value);
    rollout->advance(value);
  }
  return total;
}

}  // namespace anesi
