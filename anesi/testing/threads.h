// How many threads torch and parallel_for use, for the time of a test.
#pragma once

#include <torch/utils.h>

namespace anesi::toys {

// Sets the number of threads and puts back what it was: tests after it should not run on more than they were given.
class Threads {
 public:
  explicit Threads(int count) { torch::set_num_threads(count); }
  ~Threads() { torch::set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_ = torch::get_num_threads();
};

}  // namespace anesi::toys
