// What holds while something is computed without Python's lock: signals come in, and so many threads work.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "anesi/core/interrupt.h"
#include "anesi/core/problem.h"
#include "anesi/core/thread_pool.h"

namespace anesi::python {

namespace nb = nanobind;

// Raises what Python's signal handlers raise: KeyboardInterrupt where somebody pressed Ctrl-C.
void let_signals_in();

// Threads: 0 for as many as there are cores.
template <typename Compute>
auto compute(std::int64_t threads, Compute body) {
  const nb::gil_scoped_release released;
  const InterruptCheck signals(let_signals_in);
  std::optional<ThreadLimit> limit;
  if (threads > 0) limit.emplace(threads);
  return body();
}

// A callable that C++ keeps: the lock is taken whenever it is called or dropped, on whichever thread.
class PythonFunction {
 public:
  explicit PythonFunction(nb::object function)
      : function_(new nb::object(std::move(function)), [](nb::object* held) {
          if (Py_IsInitialized() == 0) return;  // the interpreter took it along
          const nb::gil_scoped_acquire lock;
          delete held;
        }) {}

  // The caller has the lock.
  template <typename... Arguments>
  nb::object operator()(Arguments&&... arguments) const {
    return (*function_)(std::forward<Arguments>(arguments)...);
  }
  nb::handle handle() const { return *function_; }

 private:
  std::shared_ptr<nb::object> function_;
};

// Empty where the callable is None.
std::function<void(const std::string&)> say_to(const nb::object& callable);

// c in Python: `ask` takes worlds, int64 [batch, variables], and returns outputs, int64 [batch, output variables].
class PythonProblem final : public Problem {
 public:
  PythonProblem(Space worlds, Space outputs, nb::object ask)
      : worlds_(std::move(worlds)), outputs_(std::move(outputs)), ask_(std::move(ask)) {}

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply(PointRows worlds, MutablePointRows outputs) const override;

 private:
  Space worlds_, outputs_;
  PythonFunction ask_;
};

}  // namespace anesi::python
