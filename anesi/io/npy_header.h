// What an NPY file says of its array, compared with the file's length.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "anesi/core/array.h"

namespace anesi {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::uint64_t kLongestNpyHeader = 12 + (1 << 16);  // a description takes a line; more is damage

struct NpyType {
  std::string_view description;  // as NumPy writes it
  NumberType type;
};

constexpr std::array<NpyType, 9> kNpyTypes{{{"|u1", NumberType::kUInt8},
                                            {"|i1", NumberType::kInt8},
                                            {"|b1", NumberType::kBool},
                                            {"<i2", NumberType::kInt16},
                                            {"<i4", NumberType::kInt32},
                                            {"<i8", NumberType::kInt64},
                                            {"<f2", NumberType::kFloat16},
                                            {"<f4", NumberType::kFloat32},
                                            {"<f8", NumberType::kFloat64}}};

struct NpyHeader {
  const NpyType* type = nullptr;
  std::vector<std::int64_t> sizes;
  std::uint64_t begin = 0;  // of the array, to the end of the file
};

// Of a file of so many bytes that begins like this: with kLongestNpyHeader bytes of it, or all where it is shorter. The
// path only says in errors which one it was. Throws Error as read_npy does (npy.h).
NpyHeader parse_npy_header(std::string_view beginning, std::uint64_t length, const std::filesystem::path& path);

}  // namespace anesi
