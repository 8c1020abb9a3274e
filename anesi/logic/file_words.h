// Text files of other programs, line by line and word by word.
//
// Such files come from anywhere. So nothing is read that is not a regular file of at most 64 MiB (a pipe would let us
// wait for ever), and every error names file and line: "rules.cnf:12: there is no literal 9 among 8 variables".
#pragma once

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "anesi/io/input_file.h"

namespace anesi {

// All of a file. Throws Error where it is none, no regular file or too large, before reading any of it.
std::string read_text(const std::filesystem::path& path);

class FileWords {
 public:
  // The text must outlive this. Throws Error where it is longer than read_text would read.
  FileWords(std::string_view text, std::string name);

  // Goes to the next line that has words. False at the end of the file.
  bool next_line();
  std::int64_t line() const { return line_; }  // from 1; at the end of the file the last one
  // The next word of this line; empty at its end.
  std::string_view next_word();
  bool at_end_of_line() const { return peek().empty(); }
  bool next_is(std::string_view word) const { return peek() == word; }
  // The next word, which must be a number of this range. `what` names it in errors: "a literal".
  int next_number(std::string_view what, int least, int most);
  int number_of(std::string_view word, std::string_view what, int least, int most) const;  // the same of any word
  double next_weight();                                                                    // 0.5 or 1/2, not negative
  double real_of(std::string_view word, std::string_view what, std::string_view wanted = "finite") const;
  double next_real(std::string_view what);
  // Throws Error where the line goes on.
  void expect_end();

  [[noreturn]] void fail(std::string_view what) const { fail_at(line_, what); }
  [[noreturn]] void fail_at(std::int64_t line, std::string_view what) const;
  const std::string& name() const { return name_; }

  // A word as an error shows it: its beginning, without what no terminal should be sent.
  static std::string shown(std::string_view word);

 private:
  std::string_view peek() const;
  std::string_view required_word(std::string_view what);

  std::string_view rest_of_text_, rest_of_line_;
  std::string name_;
  std::int64_t line_ = 0;
};

}  // namespace anesi
