#include "anesi/io/disk_space.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

TEST(MissingSpace, SaysHowMuchAFullDiskLacks) {
  const auto here = std::filesystem::temp_directory_path();
  const auto said = missing_space(here, std::uint64_t{1} << 62, ENOSPC);
  EXPECT_TRUE(said.starts_with("; ")) << said;
  EXPECT_TRUE(toys::names(said, {"4,611,686,018,427,387,904"}));
  EXPECT_TRUE(toys::names(missing_space(here, 5000, EDQUOT), {"5,000"}));
}

TEST(MissingSpace, SaysNothingOfOtherFailures) {
  EXPECT_EQ(missing_space(std::filesystem::temp_directory_path(), 5000, EIO), "");
  EXPECT_EQ(missing_space("/nowhere/at/all", 5000, ENOSPC), "");
}

}  // namespace
}  // namespace anesi
