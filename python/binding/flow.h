// Flow networks as anesi.flow uses them.
#pragma once

#include <torch/extension.h>

namespace anesi::python {

void bind_flow(py::module_& module);

}  // namespace anesi::python
