// anesi._engine: the library without libtorch as the Python package uses it. Users meet python/anesi/*.py, never this.
//
// Numbers are NumPy's arrays, or whatever speaks DLPack on the CPU: int64 for worlds and outputs. They are not copied,
// and answers are written into arrays of the caller's. Python's lock is let go while something is computed.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <filesystem>

#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "bind.h"

namespace {

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const anesi::UsageError& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const anesi::Error& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    PyErr_SetString(PyExc_OSError, error.what());
  }
}

}  // namespace

NB_MODULE(_engine, module) {
  nanobind::set_leak_warnings(false);  // modules that hold a problem may outlive this one when Python ends
  nanobind::register_exception_translator(translate);
  module.attr("version") = anesi::this_build().version;
  module.attr("build") = anesi::this_build().to_string("without libtorch");
  module.attr("has_cadical") = anesi::this_build().cadical;
  module.attr("has_libsdd") = anesi::this_build().libsdd;
  anesi::python::bind_facts(module);
  anesi::python::bind_problem(module);
  anesi::python::bind_discovery(module);
  anesi::python::bind_backend(module);
  anesi::python::bind_markov(module);
  anesi::python::bind_files(module);
  anesi::python::bind_kernels(module);
  anesi::python::bind_search(module);
  anesi::python::bind_tasks(module);
}
