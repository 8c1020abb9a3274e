// What a safetensors file says of its tensors, compared with the file's length.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace anesi {

constexpr std::string_view kSafetensorsMetadata = "__metadata__";  // the one name that is not a tensor
constexpr std::size_t kSafetensorsLengthBytes = 8;                 // in which the header's length stands before it

struct SafetensorsType {
  std::string_view name;
  std::int64_t bytes;  // of an element
};

constexpr std::array<SafetensorsType, 10> kSafetensorsTypes = {{{"F64", 8},
                                                                {"F32", 4},
                                                                {"F16", 2},
                                                                {"BF16", 2},
                                                                {"I64", 8},
                                                                {"I32", 4},
                                                                {"I16", 2},
                                                                {"I8", 1},
                                                                {"U8", 1},
                                                                {"BOOL", 1}}};

struct StoredTensor {
  std::string name;
  const SafetensorsType* type;
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
