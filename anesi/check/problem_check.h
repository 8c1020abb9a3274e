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
// (small problems) or with c on random walks (large ones); whether the automaton, the formula, the propagation, the
// pairs and the freedom of names that the problem claims agree with c.
std::vector<Finding> check_problem(const Problem& problem, std::uint64_t seed = 0);

// Whether the pruner finding is good; empty where there is no pruner.
std::optional<bool> pruner_exact(const std::vector<Finding>& findings);

}  // namespace anesi
