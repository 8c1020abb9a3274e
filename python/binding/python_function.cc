#include "python_function.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "anesi/core/error.h"
#include "anesi/tensors/rows.h"

namespace anesi::python {

void PythonProblem::apply(PointRows worlds, MutablePointRows outputs) const {
  torch::Tensor said;
  {
    const py::gil_scoped_acquire lock;
    said = ask_(tensor_of(worlds)).cast<torch::Tensor>().contiguous();
  }
  if (said.size(0) != outputs.size() || said.size(1) != outputs.width()) {
    throw UsageError(fmt::format("the function gives {} by {} numbers for {} worlds and {} outputs", said.size(0),
                                 said.size(1), outputs.size(), outputs.width()));
  }
  std::ranges::copy(rows_of(said).values(), outputs.data());
  for (std::int64_t row = 0; row < outputs.size(); ++row) {
    if (const auto complaint = outputs_.complaint(outputs[row]); !complaint.empty()) {
      throw UsageError(fmt::format("the function gives [{}] for the world [{}], which is no output: {}",
                                   fmt::join(outputs[row], ", "), fmt::join(worlds[row], ", "), complaint));
    }
  }
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
