#include "computing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "anesi/core/error.h"
#include "arrays.h"

namespace anesi::python {

void let_signals_in() {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

std::function<void(const std::string&)> say_to(const nb::object& callable) {
  if (callable.is_none()) return {};
  return [say = PythonFunction(callable)](const std::string& line) {
    const nb::gil_scoped_acquire lock;
    say(line);
  };
}

void PythonProblem::apply(PointRows worlds, MutablePointRows outputs) const {
  {
    const nb::gil_scoped_acquire lock;
    // A copy: what the function does with its worlds, or keeps of them, is its own affair.
    const auto answer = ask_(give(Points(worlds)));
    Reads<std::int64_t> said;
    if (!nb::try_cast(answer, said) || said.ndim() != 2) {
      throw UsageError("the function must give whole numbers: an int64 array of two dimensions, on the CPU");
    }
    const auto size = static_cast<std::int64_t>(said.shape(0)), width = static_cast<std::int64_t>(said.shape(1));
    if (size != outputs.size() || width != outputs.width()) {
      throw UsageError(fmt::format("the function gives {} by {} numbers for {} worlds and {} outputs", size, width,
                                   outputs.size(), outputs.width()));
    }
    std::copy_n(said.data(), said.size(), outputs.data());
  }
  for (std::int64_t row = 0; row < outputs.size(); ++row) {
    if (const auto complaint = outputs_.complaint(outputs[row]); !complaint.empty()) {
      throw UsageError(fmt::format("the function gives [{}] for the world [{}], which is no output: {}",
                                   fmt::join(outputs[row], ", "), fmt::join(worlds[row], ", "), complaint));
    }
  }
}

}  // namespace anesi::python
