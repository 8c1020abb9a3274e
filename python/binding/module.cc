// The module anesi._core: what Python sees of the library.
#include <torch/extension.h>

PYBIND11_MODULE(_core, module) {
  module.attr("version") = "0.2.0";
  module.def("log_probabilities", [](const torch::Tensor& scores) { return scores.log_softmax(-1); });
}
