// NPY, the format in which NumPy keeps one array: a line that describes it, then its bytes.
//
// Little-endian numbers in C order, of the types that torch has too. Nothing in a header is believed before it is
// compared with the length of the file, so a damaged or mistaken file is one clear Error, such as
// "train_maps.npy: header says uint8 [10000, 96, 96, 3] (276,480,128 bytes), the file has 1,024; it is cut short".
#pragma once

#include <torch/torch.h>

#include <filesystem>

namespace anesi {

torch::Tensor read_npy(const std::filesystem::path& path);

// The tensor may be on any device and in any layout; its type must be one that read_npy reads. The file is replaced
// atomically.
void write_npy(const std::filesystem::path& path, const torch::Tensor& array);

}  // namespace anesi
