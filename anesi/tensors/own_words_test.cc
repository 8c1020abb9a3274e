#include "anesi/tensors/own_words.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/testing/message_of.h"

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
  const auto of_json = words_for([] { return nlohmann::json::parse("{"); });
  EXPECT_TRUE(toys::names(of_json, {"JSON"}));
  EXPECT_EQ(of_json.find("json.exception"), std::string::npos) << of_json;
  EXPECT_TRUE(
      toys::names(words_for([] { torch::empty({std::int64_t{1} << 55}); }), {"memory", "144,115,188,075,855,872"}));
  const auto of_allocation = words_for([] { throw std::bad_alloc(); });
  EXPECT_TRUE(toys::names(of_allocation, {"memory"}));
  EXPECT_EQ(of_allocation.find("bad_alloc"), std::string::npos) << of_allocation;
  const auto torch_says = words_for([] { torch::zeros({2, 3}).matmul(torch::zeros({2, 3})); });
  EXPECT_TRUE(toys::names(torch_says, {"anesi", "torch", "mat1 and mat2"}));
  EXPECT_EQ(torch_says.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace anesi
