#include "anesi/tensors/allocation_limit.h"

#include <gtest/gtest.h>

#include <vector>

#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

constexpr std::int64_t kMegabyte = 1 << 20;

torch::Tensor megabytes(std::int64_t count) { return torch::empty({count * kMegabyte}, torch::kUInt8); }

TEST(AllocationLimits, BoundWhatLivesTogether) {
  {
    const AllocationLimit limit(8 * kMegabyte, "too much");
    for (int time = 0; time < 20; ++time) megabytes(5);
    const auto five = megabytes(5);
    EXPECT_EQ(toys::message_of([] { megabytes(5); }), "too much");
    EXPECT_EQ(toys::message_of([] { megabytes(2); }), "no error");
    EXPECT_EQ(toys::message_of([] { megabytes(std::int64_t{1} << 20); }), "too much");  // a terabyte
  }
  EXPECT_EQ(megabytes(9).numel(), 9 * kMegabyte);
}

TEST(AllocationLimits, StopNetworksThatAreBeingBuilt) {
  const AllocationLimit limit(8 * kMegabyte, "too much");
  EXPECT_EQ(toys::message_of([] { torch::nn::Linear(16384, 16384); }), "too much");
  EXPECT_EQ(toys::message_of([] { torch::nn::Linear(1024, 1024); }), "no error");
}

}  // namespace
}  // namespace anesi
