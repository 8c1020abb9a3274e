// Examples as arrays (data/example_arrays.h) with tensors for inputs and labels. Nothing is copied.
#pragma once

#include "anesi/data/example_arrays.h"
#include "anesi/tensors/examples.h"

namespace anesi {

std::shared_ptr<const Examples> examples_of(const ExampleArrays& arrays);
Splits examples_of(const SplitArrays& arrays);

}  // namespace anesi
