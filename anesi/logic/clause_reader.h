// What files of clauses have in common, whether the clauses are weighted or not: literals, and comments that tell which
// variables are shown and what literals weigh.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "anesi/logic/dimacs.h"
#include "anesi/logic/file_words.h"

namespace anesi {

constexpr int kMostVariablesOfDimacs = 10'000'000, kMostClauses = 10'000'000;

class ClauseReader {
 public:
  ClauseReader(std::string_view text, const std::string& name) : words_(text, name) {}

  FileWords& words() { return words_; }
  // The rest of a line that begins with this word, `c` or longer. Throws Error where it declares what is not supported.
  void read_comment(std::string_view word);
  // The word as a literal, 0 too. Throws Error where there is no such variable.
  int literal_of(std::string_view word, int variables) const;
  // What comments said, once all variables are known: they may come before the header.
  void finish(Dimacs& formula) const;

 private:
  struct Said {
    int literal;
    double weight;
    std::int64_t line;
  };
  void take_shown(Dimacs& formula) const;
  void take_weights(Dimacs& formula) const;

  FileWords words_;
  std::vector<Said> shows_, weights_;
  bool has_show_ = false;
};

}  // namespace anesi
