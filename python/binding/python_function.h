// Things of Python that C++ keeps: the lock is taken whenever they are called or dropped, on whichever thread.
#pragma once

#include <torch/extension.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "anesi/core/interrupt.h"
#include "anesi/core/problem.h"

namespace anesi::python {

namespace py = pybind11;

class PythonFunction {
 public:
  explicit PythonFunction(py::object function)
      : function_(new py::object(std::move(function)), [](py::object* held) {
          if (Py_IsInitialized() == 0) return;  // the interpreter took it along
          const py::gil_scoped_acquire lock;
          delete held;
        }) {}

  // The caller has the lock.
  template <typename... Arguments>
  py::object operator()(Arguments&&... arguments) const {
    return (*function_)(std::forward<Arguments>(arguments)...);
  }

 private:
  std::shared_ptr<py::object> function_;
};

// c in Python: `ask` takes worlds, int64 [batch, variables], and returns outputs, int64 [batch, output variables].
class PythonProblem final : public Problem {
 public:
  PythonProblem(Space worlds, Space outputs, py::object ask)
      : worlds_(std::move(worlds)), outputs_(std::move(outputs)), ask_(std::move(ask)) {}

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply(PointRows worlds, MutablePointRows outputs) const override;

 private:
  Space worlds_, outputs_;
  PythonFunction ask_;
};

// Empty where the callable is None.
std::function<void(const std::string&)> say_to(const py::object& callable);

// Raises what Python's signal handlers raise: KeyboardInterrupt where somebody pressed Ctrl-C.
void let_signals_in();

// While it lives, that ends what this thread computes without Python's lock.
struct SignalsLetIn : InterruptCheck {
  SignalsLetIn() : InterruptCheck(let_signals_in) {}
};

}  // namespace anesi::python
