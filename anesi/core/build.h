// Which anesi this is: its version, and what it was built with.
#pragma once

#include <string>
#include <string_view>

namespace anesi {

struct Build {
  std::string version;            // "0.2.0"
  bool cadical, libsdd, httplib;  // for the SAT pruner; to negate circuits fast; for `anesi serve`

  // "anesi 0.2.0 (with CaDiCaL, without libsdd, with cpp-httplib)"; what else it stands on comes first in the brackets
  std::string to_string(std::string_view framework = {}) const;
};

Build this_build();

}  // namespace anesi
