#include "anesi/models/sample.h"

#include "anesi/core/beliefs.h"
#include "anesi/models/prune_step.h"

namespace anesi {

Samples sample(SequenceModel& model, const torch::Tensor& beliefs, at::Generator generator, const Pruner* pruner) {
  const auto batch = beliefs.size(0);
  auto rollout = model.begin(beliefs);
  auto values = torch::full({batch, model.space().variables()}, kUnset, beliefs.options().dtype(torch::kInt64));
  auto total = torch::zeros({batch}, beliefs.options());
  for (const auto variable : model.order()) {
    auto log_probs = rollout->next_log_probs();  // [batch, domain]
    if (pruner != nullptr) log_probs = prune_step(log_probs, values, variable, *pruner);
    const auto chosen = sample_worlds(log_probs.exp().unsqueeze(1), generator);  // [batch, 1]
    total = total + log_probs.gather(1, chosen).squeeze(1);
    values.select(1, variable).copy_(chosen.squeeze(1));
    rollout->advance(chosen.squeeze(1));
  }
  return {values, total};
}

}  // namespace anesi
