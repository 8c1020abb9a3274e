// Text from files, made fit to be shown.
//
// A saved model, a configuration or a name of a file may hold anything: escape sequences that change a terminal, line
// ends that make one message look like two, letters that turn the reading direction around. What tells a person
// something shows such text only after this.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace anesi {

// The text with everything that does not stand for itself written out: "\n", "\x1b", "\u202e". Bytes that are no UTF-8
// are written as "\xff". All else stays as it is. What would be longer than `longest` bytes is cut between two letters
// and ends in "…".
std::string printable(std::string_view text, std::size_t longest = std::numeric_limits<std::size_t>::max());

// The first line of a text, no more of it than a person reads: for messages, into which a file may have put anything,
// and what libraries throw, which may go on with a stack trace.
std::string printable_line(std::string_view text);

// The beginning of a word, in quotes.
std::string printable_word(std::string_view word);

}  // namespace anesi
