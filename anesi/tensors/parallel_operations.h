// Sharing out work that is made of torch's operations.
//
// Small operations gain little from several threads, and wait for each other at every step. Where the work comes in
// parts that do not depend on each other it is better to give each thread whole parts.
#pragma once

#include <torch/torch.h>

#include "anesi/core/thread_pool.h"

namespace anesi {

// parallel_for() whose bodies may call torch: meanwhile each of its operations runs on the thread that calls it. What
// is set for a thread (gradients, reduced precision) must be set in the body. Not from several threads at once.
inline void parallel_operations(std::int64_t size, const std::function<void(std::int64_t, std::int64_t)>& body) {
  struct Restored {
    int threads = torch::get_num_threads();
    ~Restored() { torch::set_num_threads(threads); }
  };
  const Restored restored;
  parallel_for(size, 1, [&](std::int64_t begin, std::int64_t end) {
    torch::set_num_threads(1);  // of this thread alone; the caller's is restored
    body(begin, end);
  });
}

}  // namespace anesi
