// The module anesi._core: what Python sees of the library.
#include <torch/extension.h>

#include "anesi/core/build.h"

PYBIND11_MODULE(_core, module) {
  module.attr("build") = anesi::this_build().to_string();
  module.def("log_probabilities", [](const torch::Tensor& scores) { return scores.log_softmax(-1); });
}
