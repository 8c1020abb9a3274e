// The build defines ANESI_VERSION, and ANESI_WITH_CADICAL, ANESI_WITH_SDD and ANESI_WITH_HTTPLIB as 0 or 1.
#include "anesi/core/build.h"

#include <fmt/format.h>

namespace anesi {

std::string Build::to_string(std::string_view framework) const {
  const auto with = [](bool there) { return there ? "with" : "without"; };
  return fmt::format("anesi {} ({}{}{} CaDiCaL, {} libsdd, {} cpp-httplib)", version, framework,
                     framework.empty() ? "" : ", ", with(cadical), with(libsdd), with(httplib));
}

Build this_build() {
  return {.version = ANESI_VERSION,
          .cadical = ANESI_WITH_CADICAL != 0,
          .libsdd = ANESI_WITH_SDD != 0,
          .httplib = ANESI_WITH_HTTPLIB != 0};
}

}  // namespace anesi
