// How long a call takes.
#pragma once

#include <functional>

namespace anesi::cli {

// Mean seconds of a call, over calls that take about `seconds` together, after one that does not count
// unless it alone takes as long.
double time_of(double seconds, const std::function<void()>& body);

}  // namespace anesi::cli
