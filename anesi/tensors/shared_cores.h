// Cores that other processes want too.
//
// libtorch's threads wait for one another in a loop for about a millisecond before they sleep. With cores of one's own
// that is quickest; where other processes use them, those that wait keep those from working that they wait for, and
// two trainings side by side take four times as long as one. Libgomp, the OpenMP runtime that libtorch brings, waits
// but for a moment while a process has more threads than there are cores. So as long as threads stand in line for a
// core that others use, some that sleep are kept here beside them. Nobody computes anything else or in another order:
// results are the same to the last bit.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace anesi {

// Seconds of cores: those that our threads stood in line for, all together, and those that other processes used of the
// cores that we may use.
struct CoreSeconds {
  double in_line = 0, by_others = 0;
};

// Whether threads stand in line because of others: soon yes, late no. More threads of our own than cores are no reason.
class Crowding {
 public:
  // After another `passed` seconds.
  bool observe(const CoreSeconds& since, double passed);

 private:
  bool crowded_ = false;
  double share_ = 0;  // of the time
  double busy_ = 0;   // seconds for which they have
  double quiet_ = 0;  // seconds since they last did
};

// As long as it lives it looks, ten times a second, and does as is said above. One for a process is enough. Does
// nothing where the system does not tell how long threads stand in line and cores are used, the environment says how
// threads wait (OMP_WAIT_POLICY, GOMP_SPINCOUNT), or there is no libgomp.
class SharedCores {
 public:
  SharedCores();
  ~SharedCores();
  SharedCores(const SharedCores&) = delete;
  SharedCores& operator=(const SharedCores&) = delete;

  bool give_way() const;  // at the moment

 private:
  class Sleepers;
  void watch();

  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::unique_ptr<Sleepers> sleepers_;  // null unless they give way
  std::thread watcher_;
};

}  // namespace anesi
