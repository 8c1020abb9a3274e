#include "python_function.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "anesi/core/error.h"
#include "anesi/core/rows.h"

namespace anesi::python {

torch::Tensor PythonProblem::apply(const torch::Tensor& worlds) const {
  const auto asked = worlds.to(torch::kCPU).contiguous();
  torch::Tensor outputs;
  {
    const py::gil_scoped_acquire lock;
    outputs = ask_(asked).cast<torch::Tensor>();
  }
  for (std::int64_t row = 0; row < outputs.size(0); ++row) {
    if (const auto complaint = outputs_.complaint(row_of(outputs, row)); !complaint.empty()) {
      throw UsageError(fmt::format("the function gives [{}] for the world [{}], which is no output: {}",
                                   fmt::join(row_of(outputs, row), ", "), fmt::join(row_of(asked, row), ", "),
                                   complaint));
    }
  }
  return outputs;
}

std::function<void(const std::string&)> say_to(const py::object& callable) {
  if (callable.is_none()) return {};
  return [say = PythonFunction(callable)](const std::string& line) {
    const py::gil_scoped_acquire lock;
    say(line);
  };
}

void let_signals_in() {
  const py::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace anesi::python
