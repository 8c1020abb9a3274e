#include "anesi/tensors/shared_cores.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <torch/utils.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "anesi/testing/threads.h"

namespace anesi {
namespace {

TEST(Crowding, IsNoticedSoonAndForgottenSlowly) {
  Crowding crowding;
  const auto observe = [&](double in_line, double passed) {
    return crowding.observe({.in_line = in_line, .by_others = passed}, passed);
  };
  EXPECT_FALSE(observe(0.0, 0.1));
  EXPECT_FALSE(observe(0.08, 0.1)) << "a moment is not enough";
  EXPECT_TRUE(observe(0.08, 0.1));
  EXPECT_TRUE(observe(0.0, 0.1));
  EXPECT_TRUE(observe(0.0, 0.1));
  EXPECT_TRUE(observe(0.0, 1.0));
  EXPECT_TRUE(observe(0.6, 1.0)) << "neither crowded nor quiet: it stays as it was";
  EXPECT_TRUE(observe(0.0, 1.0));
  EXPECT_TRUE(observe(0.0, 1.0));
  EXPECT_FALSE(observe(0.0, 1.0));
}

TEST(Crowding, IsOfOthersAlone) {
  Crowding crowding;
  for (int look = 0; look < 50; ++look) {
    EXPECT_FALSE(crowding.observe({.in_line = 0.3, .by_others = 0.01}, 0.1)) << "more threads of our own than cores";
  }
  Crowding beside;
  for (int look = 0; look < 50; ++look) {
    EXPECT_FALSE(beside.observe({.in_line = 0.01, .by_others = 0.2}, 0.1)) << "cores enough for all";
  }
}

TEST(SharedCores, GiveWayWhereThreadsStandInLine) {
  if (!std::filesystem::exists("/proc/self/schedstat")) GTEST_SKIP() << "nobody tells how long threads stand in line";
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) {
    GTEST_SKIP() << "the environment says how threads wait";
  }
  const toys::Threads two(2);
  SharedCores cores;
  std::atomic<bool> done = false;
  const auto keep_busy = [&] {
    while (!done) {
    }
  };
  std::vector<std::thread> ours;
  std::vector<pid_t> others;
  for (unsigned core = 0; core < std::thread::hardware_concurrency(); ++core) {
    others.push_back(fork());
    if (others.back() == 0) {
      alarm(30);
      keep_busy();
    }
    ours.emplace_back(keep_busy);
  }
  const auto begin = std::chrono::steady_clock::now();
  while (!cores.give_way() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(cores.give_way());
  done = true;
  for (auto& thread : ours) thread.join();
  for (const auto process : others) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
}

}  // namespace
}  // namespace anesi
