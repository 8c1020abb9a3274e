// The problem doctor: is a problem well posed, and is the knowledge it offers besides c true of c?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "anesi/core/problem.h"

namespace anesi {

struct Finding {
  std::string name;
  bool good;
  std::string words;  // the verdict, for people
};

// Draws worlds evenly from the seed. Looks at: whether outputs stay inside their space; whether c gives the same output
// again, one world at a time and in batches over threads; whether the pruner agrees with brute force on every prefix
// (small problems) or with c on random walks (large ones); and whether every other fact of the problem that this
// library knows of agrees with c and with its spaces.
std::vector<Finding> check_problem(const Problem& problem, std::uint64_t seed = 0);

// Whether the pruner finding is good; empty where there is no pruner.
std::optional<bool> pruner_exact(const std::vector<Finding>& findings);

}  // namespace anesi
