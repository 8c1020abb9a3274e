// Readers that are given any bytes at all.
//
// A target hands its input to one reader, as the contents of a file. The reader may refuse it with an Error of one
// line; anything else that it throws, a sanitizer's complaint or a broken promise (`expect`) is a finding. The same
// targets run under libFuzzer (`make fuzz`) and, on the inputs of corpus/, in the ordinary tests (replay_test.cc).
#pragma once

#include <string_view>
#include <vector>

#include "anesi/core/unique_name.h"

namespace anesi::fuzz {

struct Target {
  std::string_view name;  // of its folder in corpus/ too
  void (*read)(std::string_view input);
};

// All that are linked in; under libFuzzer that is one.
std::vector<Target>& targets();
bool add_target(std::string_view name, void (*read)(std::string_view input));

// Ends the process where a reader breaks its promise.
void expect(bool holds, std::string_view promise);

// Lets the target read the input. Returns whether it was refused.
bool refuses(const Target& target, std::string_view input);

#define ANESI_FUZZ_TARGET(name, ...) \
  [[maybe_unused]] const bool ANESI_UNIQUE_NAME(fuzz_target_) = ::anesi::fuzz::add_target(name, __VA_ARGS__)

}  // namespace anesi::fuzz
