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

#include "anesi/core/array.h"

namespace anesi {

struct SafetensorsFile {
  NamedArrays arrays;                           // not tied to the file
  std::map<std::string, std::string> metadata;  // whatever the writer wanted to say
};

// Replaces the file atomically. The data starts at a multiple of 8 bytes, and wide elements come first, so
// that each array is aligned for a reader that maps the file. The same arrays give the same bytes.
void write_safetensors(const std::filesystem::path& path, const NamedArrays& arrays,
                       const std::map<std::string, std::string>& metadata = {});

SafetensorsFile read_safetensors(const std::filesystem::path& path);

// The shapes of the arrays in a file, from its header alone: no number is read.
std::map<std::string, std::vector<std::int64_t>> read_safetensors_shapes(const std::filesystem::path& path);

}  // namespace anesi
