// What a safetensors file says of its tensors, compared with the file's length.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "anesi/core/array.h"

namespace anesi {

constexpr std::string_view kSafetensorsMetadata = "__metadata__";  // the one name that is not a tensor
constexpr std::size_t kSafetensorsLengthBytes = 8;                 // in which the header's length stands before it

// What the format calls each NumberType, in their order.
constexpr std::array<std::string_view, kNumberTypes.size()> kSafetensorsTypes{"F64", "F32", "F16", "BF16", "I64",
                                                                              "I32", "I16", "I8",  "U8",   "BOOL"};

struct StoredTensor {
  std::string name;
  NumberType type;
  std::vector<std::int64_t> shape;
  std::uint64_t begin;
  std::uint64_t end;  // in bytes of the data, one past the last
};

struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;  // in the order of their places, which cover the data
  std::map<std::string, std::string> metadata;
};

// The length of the header, of a file that begins like this (at least its first eight bytes, or all where it is
// shorter) and has so many bytes. The path only says in errors which one it was. Throws Error where the file has no
// room for it, or it is longer than kLargestJson.
std::uint64_t safetensors_header_length(std::string_view beginning, std::uint64_t file_bytes,
                                        const std::filesystem::path& path);

// The header, of a file with so many bytes of data behind it. Throws Error as read_safetensors does (safetensors.h).
SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_bytes,
                                           const std::filesystem::path& path);

}  // namespace anesi
