#include "anesi/run/option_changes.h"

#include <gtest/gtest.h>

namespace anesi {
namespace {

TEST(OptionChanges, NothingChangedIsNothing) {
  const Configuration configuration("mnist-add");
  EXPECT_TRUE(option_changes(configuration.values(), configuration).empty());
  EXPECT_TRUE(option_changes({{"an.option", "of another version"}}, configuration).empty());
}

TEST(OptionChanges, ATrainingMayBecomeLongerButNotAnother) {
  const Configuration before("mnist-add");
  Configuration now("mnist-add");
  now.table().set("train.epochs", "77");
  now.table().set("eval.beam", "3");
  now.table().set("seed", "5");
  now.table().set("train.lr", "0.5");
  now.table().set("task.digits", "3");
  std::map<std::string, bool> allowed;
  for (const auto& change : option_changes(before.values(), now)) allowed[change.name] = change.allowed;
  EXPECT_EQ(
      allowed,
      (std::map<std::string, bool>{
          {"eval.beam", true}, {"seed", false}, {"task.digits", false}, {"train.epochs", true}, {"train.lr", false}}));
}

TEST(OptionChanges, WhatHasNoEffectMayChange) {
  const Configuration before("mnist-add");
  Configuration now("mnist-add");
  ASSERT_FALSE(now.applies("resnet.width"));
  now.table().set("resnet.width", "5");
  const auto changes = option_changes(before.values(), now);
  ASSERT_EQ(changes.size(), 1);
  EXPECT_TRUE(changes[0].allowed);
}

TEST(OptionChanges, AFewAreTold) {
  EXPECT_EQ(to_string({{"seed", "0", "5"}, {"q.from", "runs/a", ""}}), "seed was 0, is 5; q.from was runs/a, is empty");
  EXPECT_EQ(to_string(std::vector<OptionChange>(7, {"a", "1", "2"})).substr(60), "a was 1, is 2; and 2 more");
}

}  // namespace
}  // namespace anesi
