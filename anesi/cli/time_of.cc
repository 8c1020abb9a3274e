#include "anesi/cli/time_of.h"

#include <chrono>
#include <cstdint>

namespace anesi::cli {

double time_of(double seconds, const std::function<void()>& body) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const auto first = Clock::now();
  body();
  // A call that takes longer than there is time for is not made again.
  if (const auto alone = seconds_since(first); alone >= seconds) return alone;
  const auto start = Clock::now();
  double passed = 0;
  std::int64_t calls = 0;
  while (passed < seconds) {
    // Looking at the clock costs as much as a short call, so that happens once in a tenth of the calls.
    const auto round = 1 + calls / 10;
    for (std::int64_t call = 0; call < round; ++call) body();
    calls += round;
    passed = seconds_since(start);
  }
  return passed / static_cast<double>(calls);
}

}  // namespace anesi::cli
