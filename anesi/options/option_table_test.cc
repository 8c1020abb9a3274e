#include "anesi/options/option_table.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

struct Example {
  std::int64_t digits = 4;
  double rate = 0.001;
  bool frozen = false;
  std::string schedule = "constant";

  void describe(OptionTable& table) {
    table.add("digits", digits, {1, 1000}, "digits in a number");
    table.add("rate", rate, {0, 10}, "learning rate");
    table.add("frozen", frozen, "leave q alone");
    table.add("schedule", schedule, {"constant", "cosine"}, "how the rate changes");
  }
};

struct OptionTableTest : testing::Test {
  OptionTableTest() { table.add_group("task", example); }

  std::string refusal(const std::string& assignment) {
    try {
      table.set(assignment);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  Example example;
  OptionTable table;
};

TEST_F(OptionTableTest, SetsWhatItWasFilledFrom) {
  table.set("task.digits=15");
  table.set("task.rate=1e-2");
  table.set("task.frozen=true");
  table.set("task.schedule=cosine");
  EXPECT_EQ(example.digits, 15);
  EXPECT_EQ(example.rate, 0.01);
  EXPECT_TRUE(example.frozen);
  EXPECT_EQ(example.schedule, "cosine");
}

TEST_F(OptionTableTest, RefusesWithAReason) {
  EXPECT_TRUE(toys::names(refusal("task.digts=3"), {"task.digts", "task.digits"}));
  EXPECT_TRUE(toys::names(refusal("colour=3"), {"colour"}));
  EXPECT_TRUE(toys::names(refusal("task.digits=0"), {"task.digits", "0", "1", "1000"}));
  EXPECT_TRUE(toys::names(refusal("task.digits=3.5"), {"task.digits", "3.5"}));
  EXPECT_TRUE(toys::names(refusal("task.rate=nan"), {"task.rate", "nan", "0", "10"}));
  EXPECT_TRUE(toys::names(refusal("task.frozen=yes"), {"task.frozen", "yes"}));
  EXPECT_TRUE(toys::names(refusal("task.schedule=fast"), {"task.schedule", "fast", "constant", "cosine"}));
  EXPECT_TRUE(toys::names(refusal("task.digits"), {"task.digits"}));
  EXPECT_EQ(example.digits, 4) << "a refused value was kept";
}

TEST_F(OptionTableTest, RoundTripsThroughToml) {
  table.set("task.rate=0.1");
  table.set("task.schedule=cosine");
  Example copy;
  OptionTable other;
  other.add_group("task", copy);
  other.load_toml(table.to_toml(), "config.toml");
  EXPECT_EQ(copy.rate, 0.1);
  EXPECT_EQ(copy.schedule, "cosine");
  EXPECT_EQ(copy.digits, 4);
}

TEST_F(OptionTableTest, TomlErrorsNameTheFile) {
  const auto message = [&](const char* text) -> std::string {
    try {
      table.load_toml(text, "config.toml");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_TRUE(toys::names(message("[task]\ndigits = 5000\n"), {"config.toml", "task.digits", "5000", "1", "1000"}));
  EXPECT_TRUE(message("[task\n").starts_with("config.toml: line 1: ")) << message("[task\n");
}

TEST(OptionTable, TextThatCannotBeWrittenDownIsRefused) {
  std::string path = "as it was";
  OptionTable table;
  table.add("path", path, {}, "a file");
  for (const std::string text : {"f\xff.cnf", "two\nlines", "\x1b[31m"}) {
    EXPECT_THROW(table.set("path", text), UsageError);
    EXPECT_EQ(path, "as it was");
  }
  table.set("path", "größer.cnf");
  EXPECT_EQ(path, "größer.cnf");
}

}  // namespace
}  // namespace anesi
