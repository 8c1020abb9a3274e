// The installed headers compile, the installed library links and runs, and what registers itself is there.
#include <cstdio>

#include "anesi/core/beliefs.h"
#include "anesi/models/architecture.h"
#include "anesi/models/beam.h"
#include "anesi/train/configuration.h"

int main() {
  const anesi::Configuration configuration("mnist-add");
  const auto task = configuration.make_task({});
  const auto q = configuration.make_model(*task.problem);
  const auto best = anesi::beam_search(*q.prediction, anesi::uniform_beliefs(1, task.problem->worlds()), 3);
  std::printf("%zu architectures; three outputs of q, log-probabilities from %g\n", anesi::architectures().size(),
              best.log_prob[0][0].item<double>());
  return anesi::architectures().size() >= 3 && best.values.size(1) == 3 ? 0 : 1;
}
