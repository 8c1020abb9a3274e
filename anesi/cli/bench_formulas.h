// How well one graph network counts random formulas that it was never trained on.
#pragma once

namespace anesi::cli {

// Trains the network on random formulas, then asks it about others; prints a table or JSON.
void bench_formulas(bool json);

}  // namespace anesi::cli
