// Every input of corpus/, once: what a fuzzer found stays found.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <string>

#include "anesi/io/input_file.h"
#include "anesi/testing/damage.h"
#include "anesi/testing/random_seed.h"
#include "fuzz/target.h"

namespace anesi::fuzz {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = ANESI_FUZZ_CORPUS;

TEST(Fuzz, CorpusIsReadOrRefused) {
  std::set<std::string> folders;
  for (const auto& folder : fs::directory_iterator(kCorpus)) folders.insert(folder.path().filename().string());
  for (const auto& target : targets()) {
    EXPECT_EQ(folders.erase(std::string(target.name)), 1U) << "no corpus of " << target.name;
    std::size_t read = 0, refused = 0;
    for (const auto& file : fs::directory_iterator(kCorpus / target.name)) {
      SCOPED_TRACE(file.path());
      ++(refuses(target, read_file(file.path(), kLargestJson)) ? refused : read);
    }
    // A corpus of nothing but refusals would show little.
    EXPECT_GT(read, 0U) << target.name;
    EXPECT_GT(refused, 0U) << target.name;
  }
  EXPECT_TRUE(folders.empty()) << *folders.begin() << " is no target's";
}

TEST(Fuzz, DamagedCorpusIsReadOrRefused) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  for (const auto& target : targets()) {
    for (const auto& file : fs::directory_iterator(kCorpus / target.name)) {
      SCOPED_TRACE(file.path());
      const auto contents = read_file(file.path(), kLargestJson);
      for (int time = 0; time < 20; ++time) refuses(target, toys::damaged(contents, random));
    }
  }
}

}  // namespace
}  // namespace anesi::fuzz
