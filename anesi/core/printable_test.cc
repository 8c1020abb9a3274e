#include "anesi/core/printable.h"

#include <gtest/gtest.h>

namespace anesi {
namespace {

TEST(Printable, LettersStayAsTheyAre) {
  for (const std::string text : {"", "a b", "± ¬ … 数 🙂", "\\n"}) EXPECT_EQ(printable(text), text);
}

TEST(Printable, WhatChangesATerminalIsWrittenOut) {
  EXPECT_EQ(printable("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
  EXPECT_EQ(printable("one\ntwo\r\n\tthree"), "one\\ntwo\\r\\n\\tthree");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\x9b31m");  // U+009B starts an escape sequence too
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Printable, WhatTurnsTheReadingDirectionIsWrittenOut) {
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "gpj.exe"),
            "\\u202egpj.exe");
  EXPECT_EQ(printable("\xe2\x80\xa8"), "\\u2028");
}

TEST(Printable, BytesThatAreNoLettersAreWrittenOut) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                             // cut short
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // longer than need be
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond the last letter
  EXPECT_EQ(printable("a\x80z"), "a\\x80z");
}

TEST(Printable, IsCutBetweenLetters) {
  EXPECT_EQ(printable("abc", 3), "abc");
  EXPECT_EQ(printable("abcd", 3), "abc…");
  EXPECT_EQ(printable("ab\x1b", 5), "ab…");
  EXPECT_EQ(printable("ab±", 3), "ab…");
  EXPECT_EQ(printable("ab±", 4), "ab±");
}

TEST(Printable, LinesAndWordsAreShort) {
  EXPECT_EQ(printable_line("a\tb\nat c10::Error"), "a\\tb");
  EXPECT_EQ(printable_line(std::string(10'000, 'x')), std::string(800, 'x') + "…");
  EXPECT_EQ(printable_line(printable_line("\x1b…")), printable_line("\x1b…"));
  EXPECT_EQ(printable_word("\x1b±"), "'\\x1b±'");
  EXPECT_EQ(printable_word(std::string(25, 'x')), "'" + std::string(24, 'x') + "…'");
}

}  // namespace
}  // namespace anesi
