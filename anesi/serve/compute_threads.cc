#include "anesi/serve/compute_threads.h"

#include <torch/torch.h>

#include <algorithm>
#include <exception>

#include "anesi/serve/question.h"

namespace anesi::serve {

struct ComputeThreads::Job {
  const std::function<void()>& work;
  enum class State { kWaiting, kBegun, kDone } state = State::kWaiting;
  std::exception_ptr thrown = {};
  std::condition_variable done = {};
};

ComputeThreads::ComputeThreads(std::size_t count, std::size_t most_waiting, std::chrono::milliseconds patience)
    : most_waiting_(most_waiting), patience_(patience) {
  for (std::size_t thread = 0; thread < count; ++thread) threads_.emplace_back([this] { serve(); });
}

ComputeThreads::~ComputeThreads() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ComputeThreads::serve() {
  torch::set_num_threads(1);  // of this thread alone
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (ending_) return;
    const auto job = jobs_.front();
    jobs_.pop_front();
    job->state = Job::State::kBegun;
    lock.unlock();
    try {
      job->work();
    } catch (...) {
      job->thrown = std::current_exception();
    }
    lock.lock();
    job->state = Job::State::kDone;
    job->done.notify_one();
  }
}

void ComputeThreads::run(const std::function<void()>& work) {
  const auto job = std::make_shared<Job>(work);
  std::unique_lock lock(mutex_);
  if (ending_ || jobs_.size() >= most_waiting_) throw Refusal(503, "too many questions at once; try again");
  jobs_.push_back(job);
  changed_.notify_one();
  job->done.wait_for(lock, patience_, [&] { return job->state != Job::State::kWaiting; });
  if (job->state == Job::State::kWaiting) {
    std::erase(jobs_, job);
    throw Refusal(503, "too many questions at once; try again");
  }
  job->done.wait(lock, [&] { return job->state == Job::State::kDone; });
  if (job->thrown) std::rethrow_exception(job->thrown);
}

}  // namespace anesi::serve
