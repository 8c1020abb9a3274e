#include "anesi/check/prior_check.h"

#include "anesi/core/error.h"
#include "anesi/models/exact_model.h"
#include "anesi/run/training.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"

namespace anesi {

PriorCheck check_prior(const Configuration& configuration, const Task& task, std::int64_t samples) {
  std::string why_not;
  constexpr double kSeconds = 10;
  const auto exact = find_exact(*task.problem, kSeconds, &why_not);
  if (!exact) throw Error("a prior is judged by exact inference: " + why_not);
  const auto data = task.load();
  if (!data.test->has_worlds()) throw Error("a prior is judged by the true worlds of test examples; none are known");
  Training training(configuration, task, data);
  TrainingObserver nobody;
  training.trainer().run(nobody);
  const auto predictor = training.predictor();
  const auto evaluation = predictor.evaluate(*data.test);
  const auto beliefs = predictor.beliefs(data.test->batch(0, data.test->size()).inputs);
  const auto generator = seeded(static_cast<std::uint64_t>(configuration.seed));
  const auto nats = -world_log_prob(beliefs.to(torch::kFloat64), data.test->worlds()).mean().item<double>();
  return {
      .perceived = sampled_distance(*predictor.model().prediction, *task.problem, *exact, beliefs, samples, generator),
      .symbolic = evaluation.symbolic,
      .neural = evaluation.neural,
      .per_variable = evaluation.per_variable,
      .surprise = nats / static_cast<double>(task.problem->worlds().variables()),
      .seconds = training.trainer().seconds(),
  };
}

}  // namespace anesi
