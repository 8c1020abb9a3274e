// How long this thread has computed.
//
// By the clock on the wall, whether a formula compiles in time would depend on what else the machine does, and with it
// the examples that a task draws: a run could not go on with its own.
#pragma once

#include <ctime>

namespace anesi {

inline double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace anesi
