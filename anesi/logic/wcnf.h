// WCNF, the format of weighted clauses: those that must hold and those that should.
//
// As MaxSAT evaluations write it since 2022, and as they did before:
//
//   c a comment                          p wcnf 3 3 100        3 variables, 3 clauses, the weight of hard ones
//   h 1 -2 0         a hard clause       100 1 -2 0
//   0.7 2 3 0        weight and clause   0.7 2 3 0
//   -1.5 -1 0                            -1.5 -1 0
//
// A weight is any finite number. In MaxSAT it is the cost of a clause that does not hold; here worlds in which the
// clause holds are exp(weight) times as likely for it, so that one below zero is of a clause that rather does not
// hold. Without a header there are as many variables as are named; in a header the last number may be missing, and all
// clauses are soft. Shown variables and weights of literals are declared as in DIMACS.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "anesi/logic/dimacs.h"

namespace anesi {

struct SoftClause {
  std::vector<int> literals;
  double weight = 0;
};

struct Wcnf {
  Dimacs hard;
  std::vector<SoftClause> soft;
};

// Throws Error "name:line: what is wrong", and warns as read_dimacs does; also if a soft clause has no literal.
Wcnf read_wcnf(const std::filesystem::path& path, const Say& warn = {});
Wcnf parse_wcnf(std::string_view text, const std::string& name, const Say& warn = {});

// In the format without a header.
std::string to_wcnf(const Wcnf& formula);

}  // namespace anesi
