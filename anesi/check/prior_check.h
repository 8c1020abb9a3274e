// What a prior is worth: a training, and how far its q is from exact inference where its perception ends up looking.
#pragma once

#include "anesi/check/model_check.h"
#include "anesi/run/configuration.h"

namespace anesi {

struct PriorCheck {
  Distance perceived;       // between q and exact inference, on what perception believes of the test inputs
  double symbolic = 0;      // shares of test examples right, as in Evaluation
  double neural = 0;        //
  double per_variable = 0;  // world variables read right
  double surprise = 0;      // of perception: mean of -log P_i(w_i) at the true worlds, in nats a variable
  double seconds = 0;       // that training took
};

// Trains as the configuration says. `samples` outputs of each belief make the distance. Throws Error where exact
// inference is not at hand or the true worlds of test examples are not known.
PriorCheck check_prior(const Configuration& configuration, const Task& task, std::int64_t samples = 100);

}  // namespace anesi
