// What a comment in a file of another program declares.
//
// Model counters put what they need besides the clauses into comments: `c p show 1 2 0`. To a reader that does not know
// such a line it is a comment like any other, and its answer is that of another question. So a line that declares
// something that is not supported is an error:
//
//   c t TASK                         a task other than mc and wmc (model counting competition, 2021 and later)
//   c p PROPERTY NUMBERS             a property other than show and weight
//   c ind NUMBERS, cr NUMBERS        the variables that are counted (ApproxMC, DSHARP)
//   c max NUMBERS                    the variables that are maximised
//   c weights NUMBERS                the weights of all literals (miniC2D)
//
// Lines that begin so but go on in words, such as `c max clique of 9 nodes`, are comments.
#pragma once

#include <string_view>

#include "anesi/logic/file_words.h"

namespace anesi {

enum class Declaration { kNone, kShow, kWeight };

// Of a line whose first word, which begins with c, is read. After kShow and kWeight the rest of the line is what is
// shown or weighs. Throws Error where the line declares what is not supported.
Declaration declared_in_comment(FileWords& words, std::string_view first);

// Throws Error where a line that should have clauses begins with a word by which other formats declare something: `w`,
// `vp`, `x`, ….
void refuse_line_of_other_format(const FileWords& words, std::string_view first);

}  // namespace anesi
