// DIMACS, the format in which formulas in conjunctive normal form are exchanged, as model counters extend it. This is
// how the model counting competition does (2021 and later):
//
//   c rain and snow       a comment
//   c t wmc               the task
//   p cnf 3 2             3 variables, 2 clauses
//   c p show 1 2 0        the variables that are counted; all where no line says so
//   c p weight 1 0.7 0    the weight of a literal, also 7/10
//   1 -2 0                clauses, which may go over several lines
//   2 3 0
//
// Other ways to say which variables are counted and what literals weigh are read as well, and lines that declare what
// is not supported are refused (declaration.h). Headers `p pcnf`, `p wpcnf` and, with weights, `p wcnf` are those of
// the competition of 2020.
//
// Reading takes time and memory in proportion to the file, whatever its header says.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "anesi/core/say.h"

namespace anesi {

struct Dimacs {
  int variables = 0;
  std::vector<std::vector<int>> clauses;
  std::vector<int> shown;         // in the file's order, each once
  bool has_show = false;          // without it, all are shown
  std::map<int, double> weights;  // literals that are not here have weight 1
};

// Where the file gives one literal of a variable a weight w of at most 1 and the other none, the other's is 1 - w.
// Throws Error "name:line: what is wrong": a header that is missing, not the only one or absurd (more than ten million
// variables or clauses), literals without variables, words that should be numbers, negative weights. `warn` is told
// "name:line: what is odd": clauses that are more or fewer than the header says. What follows a line that begins with %
// is not read (SATLIB ends its files so).
Dimacs read_dimacs(const std::filesystem::path& path, const Say& warn = {});
Dimacs parse_dimacs(std::string_view text, const std::string& name, const Say& warn = {});

std::string to_dimacs(const Dimacs& formula);
// Of that only the lines `c p show` and `c p weight`.
std::string to_dimacs_comments(const Dimacs& formula);

}  // namespace anesi
