// Which anesi this is: its version, and what it was built with.
#pragma once

#include <string>

namespace anesi {

struct Build {
  std::string version, libtorch;  // "0.2.0", "2.13.0"
  bool cadical, libsdd, httplib;  // for the SAT pruner; for circuits; for `anesi serve`

  // "anesi 0.2.0 (libtorch 2.13.0, with CaDiCaL, without libsdd, with cpp-httplib)"
  std::string to_string() const;
};

Build this_build();

}  // namespace anesi
