// Small operations of torch on one thread.
//
// An operation of some thousand numbers takes a few microseconds, and as long again to share out. Where other processes
// want the cores too, the thread that it is shared with must stand in line first.
#pragma once

#include <cstdint>

namespace anesi {

constexpr std::int64_t kSmallOperation = 1 << 16;  // numbers, in an operation that is not worth sharing out

// While it lives, torch shares out nothing of what this thread calls, if `alone`. For operations whose results do not
// depend on the number of threads. Matrix products go on as they were: MKL has a setting of its own.
class OneThread {
 public:
  explicit OneThread(bool alone);
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = 0;  // threads; 0 where nothing was changed
};

}  // namespace anesi
