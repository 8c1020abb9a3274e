#include "anesi/core/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace anesi {
namespace {

thread_local bool inside_pool = false;
thread_local std::int64_t limit = 0;  // 0: none

std::int64_t cores() {
  static const auto count = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  return count;
}

std::atomic<std::int64_t (*)()> count_source = cores;

// Workers sleep until a job is posted; the caller works on pieces too.
class ThreadPool {
 public:
  ~ThreadPool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  void run(std::int64_t pieces, const std::function<void(std::int64_t)>& piece) {
    const std::lock_guard one_job_at_a_time(job_mutex_);
    while (static_cast<std::int64_t>(threads_.size()) < pieces - 1) threads_.emplace_back([this] { work(); });
    {
      const std::lock_guard lock(mutex_);
      piece_ = &piece;
      next_ = 0;
      pieces_ = pieces;
      unfinished_ = pieces;
      failure_ = nullptr;
    }
    wake_.notify_all();
    inside_pool = true;
    while (take_one()) {
    }
    inside_pool = false;
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return unfinished_ == 0; });
    piece_ = nullptr;
    // What was thrown may belong to somebody who is gone by the time this pool is.
    if (auto failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
  }

 private:
  void work() {
    inside_pool = true;
    while (true) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return stopping_ || (piece_ != nullptr && next_ < pieces_); });
        if (stopping_) return;
      }
      while (take_one()) {
      }
    }
  }

  // Runs one piece; false where none is left to take.
  bool take_one() {
    const std::function<void(std::int64_t)>* piece = nullptr;
    std::int64_t index = 0;
    {
      const std::lock_guard lock(mutex_);
      if (piece_ == nullptr || next_ >= pieces_) return false;
      piece = piece_;
      index = next_++;
    }
    std::exception_ptr failure;
    try {
      (*piece)(index);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    if (failure && !failure_) failure_ = failure;
    if (--unfinished_ == 0) done_.notify_all();
    return true;
  }

  std::mutex job_mutex_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::thread> threads_;
  const std::function<void(std::int64_t)>* piece_ = nullptr;
  std::int64_t next_ = 0, pieces_ = 0, unfinished_ = 0;
  std::exception_ptr failure_;
  bool stopping_ = false;
};

// A forked process has none of its parent's threads, and perhaps its locks: it starts with a pool of its own.
class PoolOfThisProcess {
 public:
  PoolOfThisProcess() {
    pthread_atfork(nullptr, nullptr, [] {
      auto& pool = current();
      [[maybe_unused]] auto* const the_parents = pool.release();
      pool = std::make_unique<ThreadPool>();
    });
  }
  static std::unique_ptr<ThreadPool>& current() {
    static auto pool = std::make_unique<ThreadPool>();
    return pool;
  }
};

ThreadPool& pool() {
  static const PoolOfThisProcess of_this_process;
  return *PoolOfThisProcess::current();
}

}  // namespace

ThreadLimit::ThreadLimit(std::int64_t threads) : before_(std::exchange(limit, std::max<std::int64_t>(1, threads))) {}

ThreadLimit::~ThreadLimit() { limit = before_; }

std::int64_t thread_count() { return limit > 0 ? limit : std::max<std::int64_t>(1, count_source.load()()); }

void take_thread_count_from(std::int64_t (*source)()) { count_source = source; }

std::int64_t parallel_pieces(std::int64_t size, std::int64_t grain) {
  if (inside_pool) return 1;
  return std::clamp<std::int64_t>(size / std::max<std::int64_t>(grain, 1), 1, thread_count());
}

void parallel_for(std::int64_t size, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (size <= 0) return;
  const auto pieces = parallel_pieces(size, grain);
  if (pieces == 1) {
    body(0, size);
    return;
  }
  pool().run(pieces, [&](std::int64_t piece) { body(size * piece / pieces, size * (piece + 1) / pieces); });
}

}  // namespace anesi
