#include "anesi/models/rollout_record.h"

#include "anesi/tensors/rows.h"

namespace anesi {
namespace {

void follow(SequenceModel& model, const Context& context, Values point, const Pruning* pruning,
            std::vector<RecordedStep>& steps) {
  const auto plain = model.begin(context), pruned = begin(model, context, pruning);
  for (const auto variable : model.order()) {
    if (point[static_cast<std::size_t>(variable)] == kNone) break;
    const auto free = plain->next_log_probs()[0].to(torch::kCPU, torch::kFloat64),
               kept = pruned->next_log_probs()[0].to(torch::kCPU, torch::kFloat64);
    RecordedStep step{!context.explains(), variable, {}, {}, point[static_cast<std::size_t>(variable)]};
    for (std::int64_t value = 0; value < free.size(0); ++value) {
      // What the model itself rules out is not struck out by the pruner.
      const auto before = free[value].item<double>(), after = kept[value].item<double>();
      step.probabilities.push_back(std::exp(before));
      step.allowed.push_back(!std::isinf(after) || std::isinf(before));
    }
    steps.push_back(step);
    const auto chosen = torch::full({1}, step.chosen, torch::kInt64);
    plain->advance(chosen);
    pruned->advance(chosen);
  }
}

}  // namespace

std::vector<RecordedStep> record_rollout(const InferenceModel& model, const torch::Tensor& beliefs, Values output,
                                         Values world, const Pruning* pruning) {
  const torch::NoGradGuard no_gradients;
  std::vector<RecordedStep> steps;
  follow(*model.prediction, beliefs, output, pruning, steps);
  if (model.explanation && !world.empty()) {
    const auto outputs = tensor_of(output).unsqueeze(0);
    follow(*model.explanation, {beliefs, outputs}, world, pruning, steps);
  }
  return steps;
}

}  // namespace anesi
