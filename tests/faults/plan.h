// What a program that this library is preloaded into is to meet: tests/faults/torture.py says it by environment
// variables.
//
//   FAULTS_UNDER=FOLDER      calls on files below it are counted, from 1; an absolute path
//   FAULTS_TRACE=FILE        gets a line for each of them (its number, the call, the file) and one when main is over
//   FAULTS_CALL=N            the N-th of them fails with FAULTS_ERRNO or, where that is 0, meets FAULTS_SIGNAL
//   FAULTS_LASTING=1         so do all later ones
//   FAULTS_ROOM=BYTES        the free space of the disk below the folder
//   FAULTS_ALLOCATION=N      the N-th allocation of FAULTS_LARGE bytes or more fails
//   FAULTS_CPU=MICROSECONDS  after so much computing, FAULTS_SIGNAL is raised
//
// All count from when main begins. Nothing in this library allocates.
#pragma once

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace faults {

inline long number(const char* name, long otherwise) {
  const char* const found = std::getenv(name);
  return found != nullptr ? std::atol(found) : otherwise;
}

inline std::string_view text(const char* name) {
  const char* const found = std::getenv(name);
  return found != nullptr ? found : "";
}

struct Plan {
  std::string_view under = text("FAULTS_UNDER"), trace = text("FAULTS_TRACE");
  long call = number("FAULTS_CALL", 0);
  int error = static_cast<int>(number("FAULTS_ERRNO", 0)), signal = static_cast<int>(number("FAULTS_SIGNAL", 0));
  bool lasting = number("FAULTS_LASTING", 0) != 0;
  long room = number("FAULTS_ROOM", -1);
  long allocation = number("FAULTS_ALLOCATION", 0), large = number("FAULTS_LARGE", 4096);
  long cpu = number("FAULTS_CPU", 0);
};

// Read when it is first asked for, which is not before main.
inline const Plan& plan() {
  static const Plan made;
  return made;
}

inline std::atomic<bool> in_main{false};
inline std::atomic<long> allocations{0};  // large ones, so far
inline std::atomic<long> most_taken{0};   // bytes of disk, at any one time

// Adds a line to the trace, at once, so that the trace is whole after a kill.
void tell(const char* line, int length);

}  // namespace faults
