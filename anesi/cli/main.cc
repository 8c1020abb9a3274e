// The command-line program.
#include "anesi/cli/command_line.h"

int main(int argc, char** argv) { return anesi::run_command_line(argc, argv); }
