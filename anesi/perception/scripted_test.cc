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
  const auto perception = load_scripted_perception(file, Space{3, 2});
  const auto beliefs = perception->forward(inputs);
  EXPECT_TRUE(torch::allclose(beliefs.select(1, 0), (2 * inputs.select(1, 0)).softmax(1)));
  EXPECT_TRUE(
      torch::allclose(beliefs.select(1, 1).slice(1, 0, 2), (2 * inputs.select(1, 1).slice(1, 0, 2)).softmax(1)));
  EXPECT_EQ(beliefs.select(1, 1).select(1, 2).sum().item<double>(), 0);
  EXPECT_TRUE(perception->parameters().empty());
}

TEST(ScriptedPerceptionTest, WhatIsNoScriptIsRefused) {
  const auto file = std::filesystem::path(testing::TempDir()) / "nonsense.pt";
  std::ofstream(file) << "nonsense";
  const auto message = [](const std::string& path) {
    return toys::message_of([&] { load_scripted_perception(path, Space{2}); });
  };
  EXPECT_TRUE(toys::names(message(file), {"nonsense.pt"}));
  EXPECT_TRUE(toys::names(message(file.string() + "x"), {"nonsense.ptx"}));
}

}  // namespace
}  // namespace anesi
