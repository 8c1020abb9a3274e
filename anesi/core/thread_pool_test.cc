#include "anesi/core/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace anesi {
namespace {

TEST(ParallelFor, VisitsEveryRowOnce) {
  const ThreadLimit two(2);
  for (const std::int64_t size : {0, 1, 7, 1000}) {
    std::vector<std::atomic<int>> visits(static_cast<std::size_t>(size));
    parallel_for(size, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto row = begin; row < end; ++row) ++visits[static_cast<std::size_t>(row)];
    });
    for (const auto& count : visits) EXPECT_EQ(count, 1);
  }
}

TEST(ParallelFor, RethrowsAndGoesOnWorking) {
  const ThreadLimit two(2);
  const auto fail = [](std::int64_t, std::int64_t) { throw std::runtime_error("no"); };
  EXPECT_THROW(parallel_for(100, 1, fail), std::runtime_error);
  std::atomic<std::int64_t> rows = 0;
  parallel_for(100, 1, [&](std::int64_t begin, std::int64_t end) { rows += end - begin; });
  EXPECT_EQ(rows, 100);
}

TEST(ParallelFor, MayBeNested) {
  const ThreadLimit two(2);
  std::atomic<std::int64_t> rows = 0;
  parallel_for(4, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      parallel_for(10, 1, [&](std::int64_t from, std::int64_t to) { rows += to - from; });
    }
  });
  EXPECT_EQ(rows, 40);
}

TEST(ParallelFor, SharesOutToAsManyThreadsAsTheLimitSays) {
  const ThreadLimit three(3);
  EXPECT_EQ(parallel_pieces(100, 1), 3);
  {
    const ThreadLimit one(1);
    EXPECT_EQ(parallel_pieces(100, 1), 1);
  }
  EXPECT_EQ(parallel_pieces(100, 1), 3);
  EXPECT_EQ(parallel_pieces(100, 50), 2);
}

}  // namespace
}  // namespace anesi
