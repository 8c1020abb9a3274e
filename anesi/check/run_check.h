// What `anesi check` examines: a task before it is trained, or a run with what its perception believes.
#pragma once

#include <cstdint>
#include <functional>

#include "anesi/check/report.h"
#include "anesi/run/configuration.h"
#include "anesi/run/load_run.h"
#include "anesi/train/trainer.h"

namespace anesi {

struct CheckOptions {
  std::int64_t beliefs = 200;  // to look at
  std::int64_t samples = 100;  // outputs or worlds for each
  std::uint64_t seed = 0;      // decides every draw
};

// The problem, and q as training would learn it from c alone, before any perception: with the same schedule, precision
// and prior. `on_step` is told how far that is; may be empty.
CheckReport check_task(const Configuration& configuration, const Task& task, const CheckOptions& options = {},
                       const std::function<void(const Progress&)>& on_step = {});

// The problem, and the run's q on beliefs of a prior and on what its perception believes of these examples.
CheckReport check_run(const LoadedRun& run, const Examples& examples, const CheckOptions& options = {});

}  // namespace anesi
