// A fact of one's own: outputs that depend on a count alone.
#pragma once

#include <cstdint>

// c depends on nothing but how many variables have this value.
struct CountsOnly {
  std::int64_t value;
};
