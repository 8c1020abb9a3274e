#include "anesi/io/disk_space.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

namespace anesi {
namespace {

TEST(MissingSpace, SaysHowMuchAFullDiskLacks) {
  const auto here = std::filesystem::temp_directory_path();
  const auto said = missing_space(here, std::uint64_t{1} << 62, ENOSPC);
  EXPECT_EQ(said.rfind("; it takes 4,611,686,018,427,387,904 bytes, ", 0), 0U) << said;
  EXPECT_NE(said.find(" are missing"), std::string::npos) << said;
  EXPECT_EQ(missing_space(here, 5000, EDQUOT), "; it takes 5,000 bytes");
}

TEST(MissingSpace, SaysNothingOfOtherFailures) {
  EXPECT_EQ(missing_space(std::filesystem::temp_directory_path(), 5000, EIO), "");
  EXPECT_EQ(missing_space("/nowhere/at/all", 5000, ENOSPC), "");
}

}  // namespace
}  // namespace anesi
