// Ending a long computation from outside, as Ctrl-C does in Python.
//
// Whoever starts a computation says how to find out whether it should end. Loops that may take seconds ask by
// check_interrupt(); what it throws passes through them like any error.
#pragma once

#include <chrono>
#include <functional>

namespace anesi {

// In force on this thread as long as it lives. Then the one before is again.
class InterruptCheck {
 public:
  // `check` throws if the computation should end. It is called some ten times a second at most.
  explicit InterruptCheck(std::function<void()> check);
  ~InterruptCheck();
  InterruptCheck(const InterruptCheck&) = delete;
  InterruptCheck& operator=(const InterruptCheck&) = delete;

  // Calls it, unless it was called a moment ago.
  void check();

 private:
  std::function<void()> check_;
  std::chrono::steady_clock::time_point next_{};
  InterruptCheck* before_;
};

// Throws if the computation should end; nothing happens on a thread without an InterruptCheck. Takes nanoseconds.
void check_interrupt();

}  // namespace anesi
