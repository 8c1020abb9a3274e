#include "anesi/cli/plain_words.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <stdexcept>

#include "anesi/core/error.h"

namespace anesi::cli {
namespace {

TEST(PlainWords, OursStayAsTheyAre) {
  EXPECT_EQ(in_plain_words(Error("a: you tried to allocate 5 bytes")), "a: you tried to allocate 5 bytes");
  EXPECT_EQ(in_plain_words(std::runtime_error("another")), "another");
}

TEST(PlainWords, MemoryThatRunsOut) {
  EXPECT_EQ(in_plain_words(std::bad_alloc()).find("there is not enough memory; "), 0U);
  const std::runtime_error torch(
      "[enforce fail at alloc_cpu.cpp:132] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate "
      "4611686018427387904 bytes. Error code 12 (Cannot allocate memory)");
  EXPECT_EQ(in_plain_words(torch).find("there is not enough memory: 4,611,686,018,427,387,904 bytes could not be had"),
            0U);
}

TEST(PlainWords, FilesThatFail) {
  const std::filesystem::filesystem_error error("status", "runs/a", std::make_error_code(std::errc::io_error));
  EXPECT_EQ(in_plain_words(error), "runs/a: Input/output error");
}

}  // namespace
}  // namespace anesi::cli
