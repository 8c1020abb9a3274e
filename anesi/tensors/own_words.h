// What libraries throw, in a line of ours.
#pragma once

#include <exception>
#include <string>

namespace anesi {

// What an error says, as one line: an Error as it is; what the file system, torch, JSON or the C++ library threw with
// the path where there is one, and what can be done. Longer texts are cut.
std::string in_own_words(const std::exception& error);

}  // namespace anesi
