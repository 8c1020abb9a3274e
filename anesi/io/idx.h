// IDX, the format MNIST comes in: four bytes of magic, big-endian sizes, then the bytes of the array.
//
// Only what MNIST uses: unsigned bytes in one dimension (labels) or three (images). Nothing in a header is believed
// before it is compared with the length of the file, so a damaged or mistaken file is one clear Error, such as
// "train-images-idx3-ubyte: header says 60,000 images of 28x28 (47,040,016 bytes), the file has 1,024; it is cut
// short".
#pragma once

#include <filesystem>
#include <string_view>

#include "anesi/core/array.h"

namespace anesi {

// uint8, [labels] or [images, height, width].
Array read_idx(const std::filesystem::path& path);

// The same from the contents of a file that was read already; the path only says in errors which one it was.
Array parse_idx(std::string_view contents, const std::filesystem::path& path);

// The array must be uint8 of one or three dimensions. The file is replaced atomically.
void write_idx(const std::filesystem::path& path, const Array& array);

}  // namespace anesi
