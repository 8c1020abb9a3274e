// Explanation models that choose in one order or in any, side by side on random formulas.
#pragma once

namespace anesi::cli {

// Trains each on the same formulas; prints a table or JSON.
void bench_orders(bool json);

}  // namespace anesi::cli
