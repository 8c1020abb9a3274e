#include "anesi/io/without_folders.h"

#include <gtest/gtest.h>

namespace anesi {
namespace {

std::string shown(const std::string& text) { return without_folders(text); }

TEST(WithoutFolders, APathIsTheLastOfItsNames) {
  EXPECT_EQ(shown("/home/me/rules.cnf"), "rules.cnf");
  EXPECT_EQ(shown("/rules.cnf"), "rules.cnf");
  EXPECT_EQ(shown("/home/me/runs/"), "runs/");
  EXPECT_EQ(shown("/home/me/a.npy: cut short; 2 of 3 and/or more"), "a.npy: cut short; 2 of 3 and/or more");
  EXPECT_EQ(shown("cannot read '/home/me/a b/c.npy', which is/was there"), "cannot read 'c.npy', which is/was there");
  EXPECT_EQ(shown("neither /home/me/a nor /home/you/b"), "neither a nor b");
  EXPECT_EQ(shown("task.knowledge=/home/me/rules.cnf,/home/you/more.cnf"), "task.knowledge=rules.cnf,more.cnf");
  EXPECT_EQ(shown("no digits (/home/me/mnist)\n/home/me/x"), "no digits (mnist)\nx");
}

TEST(WithoutFolders, NamesWithSpacesLeaveNoFolder) {
  EXPECT_EQ(shown("cannot read /home/my files, all/of them/a.npy"), "cannot read a.npy");
  EXPECT_EQ(shown("/home/me/ is no run"), "me/ is no run");
}

TEST(WithoutFolders, OtherSlashesStay) {
  for (const auto* const text : {"", "/", "a /", "and/or", "2120 / 3021 / 1302 / 0213", "examples/meal.cnf",
                                 "../me/rules.cnf", "https://example.org/a/b", "// 3"}) {
    EXPECT_EQ(shown(text), text);
  }
}

TEST(WithoutFolders, GoesThroughJson) {
  const nlohmann::ordered_json json{{"a", {"/home/me/x", 3, {{"b", "see /home/me/y"}}}}, {"c", nullptr}};
  const nlohmann::ordered_json expected{{"a", {"x", 3, {{"b", "see y"}}}}, {"c", nullptr}};
  EXPECT_EQ(without_folders(json), expected);
}

TEST(WithoutFolders, AnOriginLosesItsFolder) {
  EXPECT_EQ(origin_without_folder("MNIST from /home/me/mnist"), "MNIST");
  EXPECT_EQ(origin_without_folder("MNIST from data/mnist"), "MNIST");
  EXPECT_EQ(origin_without_folder("MNIST from /home/me/a, b/mnist, in 4x4 puzzles, split 1"),
            "MNIST, in 4x4 puzzles, split 1");
  for (const auto* const origin :
       {"generated", "procedural digits (MNIST was not found, and ANESI_OFFLINE keeps it from being fetched)"}) {
    EXPECT_EQ(origin_without_folder(origin), origin);
  }
}

}  // namespace
}  // namespace anesi
