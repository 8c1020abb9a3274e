// Lines for people: what is being done, what is odd.
#pragma once

#include <functional>
#include <string>

namespace anesi {

// Called with one line; may be empty.
using Say = std::function<void(const std::string& line)>;

}  // namespace anesi
