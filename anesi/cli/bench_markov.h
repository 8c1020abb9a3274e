// How well weighted formulas are counted, and how well their weights are found again.
#pragma once

namespace anesi::cli {

// Trains a network on random weighted formulas, asks it about others, and fits weights to worlds; prints tables or
// JSON.
void bench_markov(bool json);

}  // namespace anesi::cli
