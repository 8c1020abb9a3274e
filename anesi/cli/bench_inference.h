// How long one query takes against the length of the numbers: q in its variants, and exact inference.
#pragma once

#include <string>

namespace anesi::cli {

// Times each for about `seconds`; prints a table or JSON, and draws a chart into `svg` unless that is empty.
void bench_inference(double seconds, bool json, const std::string& svg);

}  // namespace anesi::cli
