// Explanation models that choose in one order or in any, side by side on random formulas.
#pragma once

#include <cstdint>

namespace anesi::cli {

// Trains each on the same formulas; prints a table or JSON.
void bench_orders(std::int64_t formulas, bool json);

}  // namespace anesi::cli
