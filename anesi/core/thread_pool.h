// A few threads that share out a range of rows.
//
// How many is an argument of whoever asks for the work, by a ThreadLimit around the call; unless there is one, as many
// as the process has cores, or what another library's setting says.
#pragma once

#include <cstdint>
#include <functional>

namespace anesi {

// While it lives, work that this thread shares out goes to so many threads, itself among them.
class ThreadLimit {
 public:
  explicit ThreadLimit(std::int64_t threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  std::int64_t before_;
};

// How many threads this thread shares work out to.
std::int64_t thread_count();

// From here on, threads without a ThreadLimit ask `source` for their number.
void take_thread_count_from(std::int64_t (*source)());

// Calls body(begin, end) on pieces that together are [0, size), from several threads at once, and returns when all are
// done. Pieces are at least `grain` long and depend only on size, grain and the number of threads, so the same machine
// adds in the same order. The first exception thrown by a body is rethrown here. May be called from within a body (it
// then runs in place).
void parallel_for(std::int64_t size, std::int64_t grain, const std::function<void(std::int64_t, std::int64_t)>& body);

// How many pieces parallel_for cuts [0, size) into.
std::int64_t parallel_pieces(std::int64_t size, std::int64_t grain);

}  // namespace anesi
