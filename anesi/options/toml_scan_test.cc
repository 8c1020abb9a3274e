#include "anesi/options/toml_scan.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "anesi/options/option_table.h"
#include "anesi/options/parse_toml.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int time = 0; time < times; ++time) text += piece;
  return text;
}

std::optional<std::size_t> too_deep_line(const std::string& text) {
  const auto fault = scan_toml(text);
  return fault ? std::optional(fault->line) : std::nullopt;
}

// A name of so many parts.
std::string name_of(int parts) { return repeated("a.", parts - 1) + "a"; }

TEST(TomlScan, IsThatOfNamesAndBrackets) {
  EXPECT_EQ(too_deep_line(""), std::nullopt);
  for (const std::string before : {"", "[", "x=[{", "x={a.b.c=1,"}) {
    EXPECT_EQ(too_deep_line(before + name_of(kDeepestToml)), std::nullopt) << before;
    EXPECT_EQ(too_deep_line(before + name_of(kDeepestToml + 1)), 1U) << before;
  }
  EXPECT_EQ(too_deep_line("x=" + repeated("[", kDeepestToml)), std::nullopt);
  EXPECT_EQ(too_deep_line("\n\nx=" + repeated("[", kDeepestToml + 1)), 3U);
  EXPECT_EQ(too_deep_line("x=" + repeated("{a=", kDeepestToml + 1)), 1U);
  EXPECT_EQ(too_deep_line("x=[" + repeated("[],", 100) + "]"), std::nullopt);
  EXPECT_EQ(too_deep_line(repeated("a.b=1.5\n", 100)), std::nullopt);
}

TEST(TomlScan, IsNotThatOfTextsAndComments) {
  const auto deep = repeated("[.", 100);
  for (const std::string& text :
       {"x='" + deep + "'", "x=\"" + deep + "\"", "x='''\n" + deep + "\n'''", "x=\"\"\"\n" + deep + "\\\"\"\" \"\"\"",
        "# " + deep, "x=\"\\\\\" # " + deep, "x=\"\\\"" + deep + "\"", "x='\\' # " + deep,
        "x=\"\"\"a\"\"\"\"\" # " + deep, "'" + deep + "'=1"}) {
    EXPECT_EQ(too_deep_line(text), std::nullopt) << text;
    EXPECT_EQ(too_deep_line(text + "\n" + name_of(99)).has_value(), true) << text;
  }
  // Behind a text that does not end nothing is read, so nothing is deep.
  EXPECT_EQ(too_deep_line("x='\n" + deep), std::nullopt);
  EXPECT_EQ(too_deep_line("x=\"\"\"\n" + deep), std::nullopt);
}

// These ended the process: parsing, reading and releasing tables each call themselves once a level.
TEST(TomlScan, IsRefusedBeforeItIsParsed) {
  constexpr int kLevels = 50'000;
  const std::vector<std::string_view> wanted{"config.toml", "line 2", "16"};
  for (const auto& text : {name_of(kLevels) + "=1", "[" + name_of(kLevels) + "]", "[[" + name_of(kLevels) + "]]",
                           "x=" + repeated("[", kLevels) + repeated("]", kLevels),
                           "x=" + repeated("{a=", kLevels) + "1" + repeated("}", kLevels)}) {
    EXPECT_TRUE(toys::names(toys::message_of([&] { parse_toml("\n" + text, "config.toml"); }), wanted));
    OptionTable table;
    EXPECT_TRUE(toys::names(toys::message_of([&] { table.load_toml("\n" + text, "config.toml"); }), wanted));
  }
}

TEST(ParseToml, SaysOnOneLineWhatIsWrong) {
  for (const std::string text : {"x=\x1b[31m", "x=\"\n\"", "[a\n]", "x=1\nx=2", "\"\\u001b\\n\"=1\n\"\\u001b\\n\"=2"}) {
    const auto message = toys::message_of([&] { parse_toml(text, "config.toml"); });
    EXPECT_TRUE(message.starts_with("config.toml: line ")) << message;
    EXPECT_EQ(message.find_first_of("\n\x1b"), std::string::npos) << message;
  }
}

// The parser takes them for something that cannot be, as it looks for spaces.
TEST(ParseToml, LettersBeyondAsciiStandInQuotesAndComments) {
  const std::string letter = "\xcf\x91";  // U+03D1
  OptionTable table;
  std::string name;
  table.add("name", name, {}, "any text");
  for (const auto& text : {"name='" + letter + "'", "name=\"" + letter + "\"", "name=\"\"\"\n" + letter + "\"\"\"",
                           "\xef\xbb\xbfname='" + letter + "' # " + letter}) {
    EXPECT_NO_THROW(table.load_toml(text, "config.toml")) << text;
    EXPECT_EQ(name, letter);
  }
  for (const auto& text : {letter + "=1", "[" + letter + "]", "x=" + letter + "-3", "x=1" + letter, "x=1 " + letter}) {
    EXPECT_TRUE(
        toys::names(toys::message_of([&] { parse_toml("\n" + text, "config.toml"); }), {"config.toml", "line 2"}));
  }
  for (const auto& text :
       {"x=0'" + letter + "'", "x='a' '" + letter + "'", "a\"" + letter + "\"=1", "[a]'" + letter + "'"}) {
    EXPECT_TRUE(toys::names(toys::message_of([&] { parse_toml(text, "config.toml"); }), {"config.toml", "line 1"}));
  }
  for (const auto& text : {"x=1=\"" + letter + "\"", "x=1979-05-27='" + letter + "-3", "x=[1 = '" + letter + "']"}) {
    EXPECT_TRUE(toys::message_of([&] { parse_toml(text, "config.toml"); }).starts_with("config.toml: line 1: "))
        << text;
  }
  EXPECT_NO_THROW(parse_toml("'" + letter + "' = 1\n'\xcf\x92' = 2", "config.toml")) << "names are not taken for one";
  EXPECT_NO_THROW(
      parse_toml("'a' . \"b\" = {'c' = ['d', \"\"\"e\"\"\"\r\n, 'f'], \"g\" = 1}\r\n  'h' = ''", "config.toml"));
  for (const auto& text : {"\\" + letter, "\\ " + letter}) {
    EXPECT_TRUE(toys::names(toys::message_of([&] { parse_toml("x=\"\"\"" + text + "\"\"\"", "config.toml"); }),
                            {"config.toml", "line 1"}));
  }
  EXPECT_TRUE(toys::names(toys::message_of([&] { parse_toml("x=\"\"\"\\ \n \n" + letter + "\"\"\"", "config.toml"); }),
                          {"config.toml", "line 3"}));
}

// The parser's own assertion ended the process.
TEST(ParseToml, ATableNeedsAName) {
  for (const std::string header : {"[\n", "[,]\n", "[[=]]\n", "[ #\n", "[\xc3\xa4]\n"}) {
    const auto message = toys::message_of([&] { parse_toml("x = 1\n" + header + "digits = 0\n", "config.toml"); });
    EXPECT_TRUE(message.starts_with("config.toml: line 2: ")) << message;
  }
}

// Comparing it with every option took longer than anybody waits.
TEST(ParseToml, LongNamesAreComparedWithNone) {
  OptionTable table;
  std::int64_t digits = 1;
  table.add("task.digits", digits, {1, 10}, "how many");
  const auto message = toys::message_of([&] { table.load_toml(std::string(900'000, 'd') + "=1", "config.toml"); });
  EXPECT_TRUE(toys::names(message, {"config.toml", std::string(64, 'd') + "…"}));
}

}  // namespace
}  // namespace anesi
