// Weighted formulas as anesi.markov uses them.
#pragma once

#include <torch/extension.h>

namespace anesi::python {

void bind_markov(py::module_& module);

}  // namespace anesi::python
