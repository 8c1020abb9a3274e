#include "anesi/io/own_words.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "anesi/core/error.h"

namespace anesi {
namespace {

template <typename Action>
std::string words_for(const Action& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return in_own_words(error);
  }
  return "no error";
}

TEST(OwnWords, AreThoseOfOurErrors) {
  EXPECT_EQ(words_for([] { throw Error("a: cut short"); }), "a: cut short");
  EXPECT_EQ(words_for([] { throw UsageError("a\nb"); }), "a");
  EXPECT_EQ(words_for([] { throw Error("\x1b[2J"); }), "\\x1b[2J");
}

TEST(OwnWords, AreGivenToWhatLibrariesThrow) {
  EXPECT_EQ(words_for([] { return std::filesystem::file_size("nowhere/file"); }),
            "nowhere/file: No such file or directory");
  EXPECT_EQ(words_for([] { std::filesystem::rename("nowhere/file", "there"); }),
            "nowhere/file: No such file or directory (with there)");
  EXPECT_EQ(words_for([] { return nlohmann::json::parse("{"); }),
            "a JSON file or answer is not of the form that is expected; it is damaged, or another program wrote it");
  EXPECT_EQ(
      words_for([] { torch::empty({std::int64_t{1} << 55}); }),
      "there is not enough memory: 144,115,188,075,855,872 bytes could not be had; a smaller model, batch or problem "
      "needs less");
  EXPECT_EQ(words_for([] { throw std::bad_alloc(); }),
            "there is not enough memory; a smaller model, batch or problem needs less");
  const auto torch_says = words_for([] { torch::zeros({2, 3}).matmul(torch::zeros({2, 3})); });
  EXPECT_TRUE(torch_says.starts_with("this is a mistake in anesi, please report it; torch says: mat1 and mat2"))
      << torch_says;
  EXPECT_EQ(torch_says.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace anesi
