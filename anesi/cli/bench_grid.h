// How long path planning takes: solving maps, and the sweeps of the learned planner beside a plain composition of them.
#pragma once

namespace anesi::cli {

// Times each for about `seconds` on grids of several sizes; prints a table or JSON.
void bench_grid(double seconds, bool json);

}  // namespace anesi::cli
