// What is said where a library that we call crashes: some of libtorch's do when an allocation fails.
#pragma once

#include <filesystem>

namespace anesi::cli {

// From now on, a crash (a signal as SIGSEGV) prints one line that says how to go on with this run. The signal ends the
// program all the same.
void tell_of_crashes(const std::filesystem::path& run);

}  // namespace anesi::cli
