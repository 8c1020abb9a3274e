// What the program prints, and whether it arrived.
#pragma once

#include <string>

namespace anesi::cli {

// Takes the places of stdin, stdout and stderr where the caller left one closed, so that no file which is opened later
// gets its number and what is printed ends up in there; reading and printing fail then. std::cout remembers from now on
// why it failed. Call it first of all.
void hold_standard_streams();

// Writes out what is still in memory. Why anything printed on stdout so far was lost ("No space left on device"), or ""
// where all of it was taken.
std::string lost_output();

}  // namespace anesi::cli
