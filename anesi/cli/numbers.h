// Numbers on the command line: refused where they are none, or out of range, in words that name the range.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

namespace anesi::cli {

inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

CLI::Validator whole_number(std::int64_t least, std::int64_t most = kNoLimit);
// Neither infinite nor "nan".
CLI::Validator real_number(double least, double most);
// What --seed takes: as many as the option `seed` of a run.
CLI::Validator seed_number();

}  // namespace anesi::cli
