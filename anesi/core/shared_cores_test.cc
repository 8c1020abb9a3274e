#include "anesi/core/shared_cores.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "anesi/testing/threads.h"

namespace anesi {
namespace {

TEST(Crowding, IsNoticedSoonAndForgottenSlowly) {
  Crowding crowding;
  EXPECT_FALSE(crowding.observe(0.0, 0.1));
  EXPECT_FALSE(crowding.observe(0.06, 0.1));
  for (int look = 0; look < 5; ++look) EXPECT_FALSE(crowding.observe(0.07, 0.1)) << "a moment is not enough";
  EXPECT_TRUE(crowding.observe(0.14, 0.2));
  EXPECT_TRUE(crowding.observe(0.0, 0.1));
  EXPECT_TRUE(crowding.observe(0.0, 0.1));
  EXPECT_TRUE(crowding.observe(0.0, 1.0));
  EXPECT_TRUE(crowding.observe(0.6, 1.0)) << "neither crowded nor quiet: it stays as it was";
  EXPECT_TRUE(crowding.observe(0.0, 1.0));
  EXPECT_TRUE(crowding.observe(0.0, 1.0));
  EXPECT_FALSE(crowding.observe(0.0, 1.0));
}

TEST(SharedCores, GiveWayWhereThreadsStandInLine) {
  if (!std::filesystem::exists("/proc/self/schedstat")) GTEST_SKIP() << "nobody tells how long threads stand in line";
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) {
    GTEST_SKIP() << "the environment says how threads wait";
  }
  const toys::Threads two(2);
  SharedCores cores;
  std::atomic<bool> done = false;
  std::vector<std::thread> busy;
  for (unsigned thread = 0; thread < 2 * std::thread::hardware_concurrency(); ++thread) {
    busy.emplace_back([&] {
      while (!done) {
      }
    });
  }
  const auto begin = std::chrono::steady_clock::now();
  while (!cores.give_way() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(cores.give_way());
  done = true;
  for (auto& thread : busy) thread.join();
}

}  // namespace
}  // namespace anesi
