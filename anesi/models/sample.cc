#include "anesi/models/sample.h"

#include "anesi/core/beliefs.h"

namespace anesi {

Samples sample(SequenceModel& model, const Context& context, const at::Generator& generator, const Pruning* pruning,
               double temperature) {
  const auto batch = context.size();
  const auto options = context.beliefs.options();
  const auto rollout = begin(model, context, pruning);
  auto values = torch::full({batch, model.space().variables()}, kUnset, options.dtype(torch::kInt64));
  auto total = torch::zeros({batch}, options);
  for (const auto variable : model.order()) {
    const auto log_probs = rollout->next_log_probs();  // [batch, domain]
    const auto tempered = temperature == 1 ? log_probs.detach() : (log_probs.detach() / temperature).log_softmax(1);
    const auto chosen = sample_worlds(tempered.exp().unsqueeze(1), generator);  // [batch, 1]
    total = total + log_probs.gather(1, chosen).squeeze(1);
    values.select(1, variable).copy_(chosen.squeeze(1));
    rollout->advance(chosen.squeeze(1));
  }
  return {values, total};
}

}  // namespace anesi
