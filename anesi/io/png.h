// Pictures as PNG, written without compression: small ones, to be looked at.
#pragma once

#include <string>
#include <string_view>

#include "anesi/core/array.h"

namespace anesi {

// The bytes of a PNG file of uint8 [height, width] (grey) or [height, width, 3] (red, green, blue).
std::string png_of(const Array& image);

// As in data URIs (RFC 4648).
std::string base64(std::string_view bytes);

}  // namespace anesi
