#include "anesi/perception/scripted.h"

#include <gtest/gtest.h>
#include <torch/script.h>

#include <fstream>

#include "anesi/core/error.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

TEST(ScriptedPerceptionTest, LogitsOfAScriptBecomeBeliefs) {
  const auto file = std::filesystem::path(testing::TempDir()) / "perception.pt";
  torch::jit::Module script("twice");
  script.define("def forward(self, x):\n    return 2 * x\n");
  script.save(file.string());
  const auto inputs = torch::randn({4, 2, 3});
  const auto perception = load_scripted_perception(file);
  EXPECT_TRUE(torch::allclose(perception->forward(inputs), (2 * inputs).softmax(2)));
  EXPECT_TRUE(perception->parameters().empty());
}

TEST(ScriptedPerceptionTest, WhatIsNoScriptIsRefused) {
  const auto file = std::filesystem::path(testing::TempDir()) / "nonsense.pt";
  std::ofstream(file) << "nonsense";
  EXPECT_NE(toys::message_of([&] { load_scripted_perception(file); }).find("not a TorchScript module"), std::string::npos);
  EXPECT_NE(toys::message_of([&] { load_scripted_perception(file.string() + "x"); }).find("no such file"), std::string::npos);
}

}  // namespace
}  // namespace anesi
