// How long one query takes against the length of the numbers: q in its variants, and exact inference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace anesi::cli {

// Times each for about `seconds` at the given lengths, or at 1 to 15, 50 and 100 where there are none; prints a table
// or JSON, and draws a chart into `svg` unless that is empty.
void bench_inference(std::vector<std::int64_t> sizes, double seconds, bool json, const std::string& svg);

}  // namespace anesi::cli
