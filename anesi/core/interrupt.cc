#include "anesi/core/interrupt.h"

#include <utility>

namespace anesi {
namespace {

constexpr std::chrono::milliseconds kBetweenChecks(100);
thread_local InterruptCheck* in_force = nullptr;

}  // namespace

InterruptCheck::InterruptCheck(std::function<void()> check)
    : check_(std::move(check)), before_(std::exchange(in_force, this)) {}

InterruptCheck::~InterruptCheck() { in_force = before_; }

void InterruptCheck::check() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kBetweenChecks;
  check_();
}

void check_interrupt() {
  if (in_force != nullptr) in_force->check();
}

}  // namespace anesi
