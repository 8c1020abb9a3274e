// A few threads that ask the model, for the many that hold connections.
//
// libtorch starts a team of threads for each thread that calls it. Sixty connections would make sixty teams; so all
// that computes runs here, one question a thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace anesi::serve {

class ComputeThreads {
 public:
  explicit ComputeThreads(std::size_t count, std::size_t most_waiting = 256,
                          std::chrono::milliseconds patience = std::chrono::seconds(10));
  // Waits for what has begun; what has not is refused.
  ~ComputeThreads();
  ComputeThreads(const ComputeThreads&) = delete;
  ComputeThreads& operator=(const ComputeThreads&) = delete;

  // Runs `work` on one of the threads, and waits for it. Throws what it throws; Refusal (503) where it did not begin in
  // time, or too many wait already.
  void run(const std::function<void()>& work);

 private:
  struct Job;
  void serve();

  std::size_t most_waiting_;
  std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> jobs_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace anesi::serve
