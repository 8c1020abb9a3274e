// What readers of circuits share (nnf_files.cc, sdd_files.cc): limits, comments, and errors that name a line.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string_view>

#include "anesi/logic/circuit_builder.h"
#include "anesi/logic/file_words.h"

namespace anesi {

inline constexpr int kMostVariablesOfFiles = 1'000'000, kMostNodesOfFiles = 10'000'000, kMostEdgesOfFiles = 100'000'000;
inline constexpr int kLargestId = std::numeric_limits<int>::max();

// Goes to the next line that is no comment, and gives its first word. Comments are lines whose first word is c.
// Throws Error where one declares what would change the answer (declaration.h).
bool next_line_but_comments(FileWords& words, std::string_view& first);

// Whether there are as many nodes as the header said: before one more, and at the end.
void expect_one_more(const FileWords& words, std::size_t nodes, int announced);
void expect_all(const FileWords& words, std::size_t nodes, int announced);

// What `build` makes of a node; what the builder says against it, with the node's line.
CircuitBuilder::Part build_at(const FileWords& words, std::int64_t line,
                              const std::function<CircuitBuilder::Part()>& build);

// The whole, of which no two parts of a sum were found to be true at once. Errors name the file.
Circuit build_whole(const FileWords& words, const CircuitBuilder& builder, CircuitBuilder::Part top);

}  // namespace anesi
