#include "anesi/models/sample.h"

#include "anesi/models/next_choice.h"
#include "anesi/tensors/beliefs.h"

namespace anesi {

Samples sample(SequenceModel& model, const Context& context, const at::Generator& generator, const Pruning* pruning,
               double temperature) {
  const auto batch = context.size();
  const auto options = context.beliefs.options();
  const auto rollout = begin(model, context, pruning);
  auto values = torch::full({batch, model.space().variables()}, kUnset, options.dtype(torch::kInt64));
  auto total = torch::zeros({batch}, options);
  for (const auto variable : model.order()) {
    const auto choice = next_choice(*rollout);
    if (choice.all_ended()) return {closed(values), total};
    const auto log_probs = choice.log_probs.detach();  // [batch, domain]
    const auto tempered = temperature == 1 ? log_probs : (log_probs / temperature).log_softmax(1);
    const auto chosen = choice.values(sample_worlds(tempered.exp().unsqueeze(1), generator).squeeze(1));
    total = total + choice.log_prob(chosen);
    values.select(1, variable).copy_(chosen);
    rollout->advance(chosen);
  }
  return {values, total};
}

}  // namespace anesi
