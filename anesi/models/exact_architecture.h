// What takes the place of q's architecture where q is exact inference.
#pragma once

namespace anesi {

inline constexpr const char* kExactArchitecture = "exact";

}  // namespace anesi
