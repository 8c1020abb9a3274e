// All commands of the program `anesi`, for a program of one's own: its tasks, architectures, priors and losses are
// known to every command by being linked in.
//
//   int main(int argc, char** argv) { return anesi::run_command_line(argc, argv); }
#pragma once

namespace anesi {

// The exit code: 0 fine, 1 failed, 2 misuse, 130 interrupted after saving. An error is one line on stderr.
int run_command_line(int argc, char** argv);

}  // namespace anesi
