// anesi.Estimator: estimators of E[g(z)] where g is a function in Python.
#pragma once

#include <torch/extension.h>

namespace anesi::python {

void bind_estimators(pybind11::module_& module);

}  // namespace anesi::python
