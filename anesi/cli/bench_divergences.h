// How near each objective of appendix E brings q to p, by the exact KL both ways, against steps.
#pragma once

#include <string>

namespace anesi::cli {

// Prints a table or JSON, and draws a chart into `svg` unless that is empty.
void bench_divergences(bool json, const std::string& svg);

}  // namespace anesi::cli
