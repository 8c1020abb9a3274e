// Labels as they come from Python, checked and brought into the library's shape.
#pragma once

#include <torch/torch.h>

#include <string>

#include "anesi/core/space.h"

namespace anesi::python {

// "(2, 3)"
std::string shape_of(const torch::Tensor& tensor);

// "[0, 4]"
std::string in_words(Values output);

// int64 [batch, variables] on the CPU; where there is one variable, [batch] will do. Throws UsageError, which names
// them, where the shape is another or they are no whole numbers.
torch::Tensor as_rows(const torch::Tensor& values, std::int64_t batch, std::int64_t variables, const char* name);

// What a label may be besides values: kNone past its end, kUnset where a variable is open.
struct Allowed {
  bool end = false, unset = false;
};

// Throws UsageError, which names the example and the variable, where a value lies outside its space.
void check_values(const torch::Tensor& rows, const Space& space, Allowed allowed, const char* name);

}  // namespace anesi::python
