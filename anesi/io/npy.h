// NPY, the format in which NumPy keeps one array: a line that describes it, then its bytes.
//
// Little-endian numbers in C order, Nothing in a header is believed before it is
// compared with the length of the file, so a damaged or mistaken file is one clear Error, such as
// "train_maps.npy: header says uint8 [10000, 96, 96, 3] (276,480,128 bytes), the file has 1,024; it is cut short".
#pragma once

#include <filesystem>

#include "anesi/core/array.h"

namespace anesi {

Array read_npy(const std::filesystem::path& path);

// Its type must be one that read_npy reads. The file is replaced atomically.
void write_npy(const std::filesystem::path& path, const Array& array);

}  // namespace anesi
