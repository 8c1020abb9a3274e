// What files of clauses have in common, whether the clauses are weighted or not: literals, and lines that tell which
// variables are shown and what literals weigh.
#pragma once

#include <cstddef>
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
  // The rest of a line that begins with this word, if it is no line of clauses but a comment or a declaration
  // (declaration.h). Throws Error if it declares what is not supported.
  bool read_declaration(std::string_view word);
  // The word as a literal, 0 too. Throws Error where there is no such variable.
  int literal_of(std::string_view word, int variables) const;
  // What was declared, once all variables are known: it may come before the header.
  void finish(Dimacs& formula) const;
  // Warns of a header that says another number of clauses.
  void compare_clauses(std::size_t of_header, std::size_t found, const Say& warn) const;

 private:
  struct Said {
    int literal;
    double weight;
    std::int64_t line;
  };
  int next_literal();
  void read_shown(bool to_end);
  void read_weight(bool of_line);
  void read_all_weights();
  void take_shown(Dimacs& formula) const;
  void take_weights(Dimacs& formula) const;

  FileWords words_;
  std::vector<Said> shows_, weights_;
  bool has_show_ = false;
  std::int64_t all_weights_ = 0, line_of_all_ = 0;  // how many a line of all weights has
};

}  // namespace anesi
