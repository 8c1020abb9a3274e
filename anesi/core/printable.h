// Text from files, made fit to be shown.
//
// A saved model, a configuration or a name of a file may hold anything: escape sequences that change a terminal, line
// ends that make one message look like two, letters that turn the reading direction around. What tells a person
// something shows such text only after this.
#pragma once

#include <string>
#include <string_view>

namespace anesi {

// The text with everything that does not stand for itself written out: "\n", "\x1b", "\u202e". Bytes that are no UTF-8
// are written as "\xff". All else stays as it is.
std::string printable(std::string_view text);

}  // namespace anesi
