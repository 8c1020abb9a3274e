// What libraries throw, said to people.
#pragma once

#include <exception>
#include <string>

namespace anesi::cli {

// The message of an error: ours as it is, that of the C++ library or libtorch about memory and files in plain words.
std::string in_plain_words(const std::exception& error);

}  // namespace anesi::cli
