// The build defines ANESI_VERSION, and ANESI_WITH_CADICAL, ANESI_WITH_SDD and ANESI_WITH_HTTPLIB as 0 or 1.
#include "anesi/tensors/build.h"

#include <fmt/format.h>
#include <torch/version.h>

namespace anesi {

std::string Build::to_string() const {
  const auto with = [](bool there) { return there ? "with" : "without"; };
  return fmt::format("anesi {} (libtorch {}, {} CaDiCaL, {} libsdd, {} cpp-httplib)", version, libtorch, with(cadical),
                     with(libsdd), with(httplib));
}

Build this_build() {
  return {.version = ANESI_VERSION,
          .libtorch = TORCH_VERSION,
          .cadical = ANESI_WITH_CADICAL != 0,
          .libsdd = ANESI_WITH_SDD != 0,
          .httplib = ANESI_WITH_HTTPLIB != 0};
}

}  // namespace anesi
