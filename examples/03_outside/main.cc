// All of anesi's commands, with one task and one architecture more:
//
//   alarms tasks
//   alarms check alarm
//   alarms train alarm --out runs/alarm
//   alarms explain runs/alarm --index 3
#include <anesi/cli/command_line.h>

int main(int argc, char** argv) { return anesi::run_command_line(argc, argv); }
