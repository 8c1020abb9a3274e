// safetensors, an open format for tensors by name: eight bytes of little-endian header length, a JSON header that gives
// each tensor's dtype, shape and place, then the data. Python reads and writes it with the package of the same name.
//
// A file is data from elsewhere, so a reader believes nothing in it: every length, shape and offset is checked before
// it is used, and the tensors must cover the data exactly, without gaps or overlaps. A damaged file is an Error that
// names the file and the tensor; it never crashes and never allocates more than the file is long.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "anesi/tensors/named_tensors.h"

namespace anesi {

struct SafetensorsFile {
  NamedTensors tensors;                         // contiguous, on the CPU, and not tied to the file
  std::map<std::string, std::string> metadata;  // whatever the writer wanted to say
};

// Replaces the file atomically. Tensors may be on any device and of any strides; their dtype must be one of F64, F32,
// F16, BF16, I64, I32, I16, I8, U8 and BOOL. The data starts at a multiple of 8 bytes, and wide elements come first, so
// that each tensor is aligned for a reader that maps the file. The same tensors give the same bytes.
void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata = {});

SafetensorsFile read_safetensors(const std::filesystem::path& path);

// The shapes of the tensors in a file, from its header alone: no weight is read.
std::map<std::string, std::vector<std::int64_t>> read_safetensors_shapes(const std::filesystem::path& path);

}  // namespace anesi
