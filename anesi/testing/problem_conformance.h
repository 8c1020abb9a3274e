// Whether a problem is what it must be, and every fact of it true: for the tests of any problem, also of those outside
// this library.
//
//   TEST(MyProblem, KeepsItsPromises) { anesi::toys::expect_well_posed(my_problem, seed); }
//
// problem_check.h says what is looked at. Small problems are compared with brute force, large ones on random worlds.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "anesi/discover/problem_check.h"

namespace anesi::toys {

inline void expect_well_posed(const Problem& problem, std::uint64_t seed) {
  for (const auto& finding : check_problem(problem, seed)) {
    EXPECT_TRUE(finding.good) << finding.name << ": " << finding.words << " (seed " << seed << ")";
  }
}

}  // namespace anesi::toys
