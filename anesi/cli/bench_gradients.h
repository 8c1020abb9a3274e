// How good the gradients of A-NeSI as an estimator are, beside those of other estimators, at equal calls of g.
#pragma once

#include <cstdint>
#include <string>

namespace anesi::cli {

// Prints a table or JSON; draws errors by steps into a file where one is named.
void bench_gradients(std::int64_t trainings, bool json, const std::string& svg);

}  // namespace anesi::cli
