// Runs another program: found on PATH, without a shell, with nothing on its input and its output thrown away.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace anesi {

// The program and its arguments, run in the given directory. Blocks until it ends. Throws Error if it is not there
// ("npm: cannot run: No such file or directory"), fails ("npm: failed with status 1") or takes too long, in which case
// it is stopped together with whatever it started.
void run_program(const std::vector<std::string>& command, const std::filesystem::path& directory,
                 std::chrono::milliseconds timeout);

}  // namespace anesi
