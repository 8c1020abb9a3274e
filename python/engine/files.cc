// Files of arrays: safetensors and NPY, read as defensively as anesi reads them everywhere.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "anesi/io/npy.h"
#include "anesi/io/safetensors.h"
#include "arrays.h"
#include "bind.h"
#include "computing.h"

namespace anesi::python {
namespace {

using Metadata = std::map<std::string, std::string>;

nb::tuple read(const std::string& path) {
  const auto file = compute(0, [&] { return read_safetensors(path); });
  return nb::make_tuple(dict_of(file.arrays), file.metadata);
}

void write(const std::string& path, const nb::dict& arrays, const Metadata& metadata) {
  const auto named = arrays_of(arrays);
  compute(0, [&] { write_safetensors(path, named, metadata); });
}

nb::object read_array(const std::string& path) {
  const auto array = compute(0, [&] { return read_npy(path); });
  return object_of(array);
}

}  // namespace

void bind_files(nb::module_& module) {
  module.def("read_safetensors", &read, nb::arg("path"));
  module.def("write_safetensors", &write, nb::arg("path"), nb::arg("arrays"), nb::arg("metadata") = Metadata());
  module.def("read_npy", &read_array, nb::arg("path"));
}

}  // namespace anesi::python
