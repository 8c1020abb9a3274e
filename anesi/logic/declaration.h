// What lines besides clauses declare in files of other programs.
//
// Model counters put what they need besides the clauses into comments or lines of their own. To a reader that does not
// know such a line it is a comment like any other, and its answer is that of another question. These are read:
//
//   c t TASK                     the task: mc, wmc, pmc, pwmc (model counting competition, 2021 and later)
//   c p show NUMBERS 0           the variables that are counted
//   c ind NUMBERS 0, cr NUMBERS  the same (ApproxMC, DSHARP)
//   vp NUMBERS 0                 the same (competition of 2020, D4, after a header `p pcnf`)
//   c p weight LITERAL WEIGHT 0  the weight of a literal
//   w LITERAL WEIGHT [0]         the same; -1: both literals of the variable weigh 1 (Cachet)
//   c weights NUMBERS            the weights of 1, -1, 2, -2, … (miniC2D)
//
// and these are errors, because they declare what is not supported:
//
//   c t TASK                     another task
//   c p PROPERTY NUMBERS         another property
//   c max NUMBERS                the variables that are maximised
//   lines that begin with v, x, e, a, r or d (XOR clauses, quantifiers)
//
// Comments that begin so but go on in words, such as `c max clique of 9 nodes`, are comments.
#pragma once

#include <string_view>

#include "anesi/logic/file_words.h"

namespace anesi {

// After kShow, kShowToEnd and the weights the rest of the line is what is shown or weighs; kShow needs a 0 at its end.
// kTask is a task other than mc: something is shown or weighed elsewhere in the file.
enum class Declaration { kNone, kShow, kShowToEnd, kWeight, kWeightOfLine, kAllWeights, kTask };

// Of a line whose first word, which begins with c, is read. Throws Error if the line declares what is not supported.
Declaration declared_in_comment(FileWords& words, std::string_view first);

// Of any other line. Throws Error if it declares what is not supported.
Declaration declared_in_line(const FileWords& words, std::string_view first);

}  // namespace anesi
