// The build defines ANESI_VERSION, and ANESI_WITH_CADICAL and ANESI_WITH_SDD as 0 or 1.
#include "anesi/core/build.h"

#include <fmt/format.h>
#include <torch/version.h>

namespace anesi {

std::string Build::to_string() const {
  const auto with = [](bool there) { return there ? "with" : "without"; };
  return fmt::format("anesi {} (libtorch {}, {} CaDiCaL, {} libsdd)", version, libtorch, with(cadical), with(libsdd));
}

Build this_build() {
  return {.version = ANESI_VERSION,
          .libtorch = TORCH_VERSION,
          .cadical = ANESI_WITH_CADICAL != 0,
          .libsdd = ANESI_WITH_SDD != 0};
}

}  // namespace anesi
