// What an NPY file says of its array, compared with the file's length.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace anesi {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::uint64_t kLongestNpyHeader = 12 + (1 << 16);  // a description takes a line; more is damage

struct NpyType {
  std::string_view description;  // as NumPy writes it
  std::string_view name;         // as NumPy and torch call it
  std::int64_t bytes;            // of an element
};

constexpr std::array<NpyType, 9> kNpyTypes{{{"|u1", "uint8", 1},
                                            {"|i1", "int8", 1},
                                            {"|b1", "bool", 1},
                                            {"<i2", "int16", 2},
                                            {"<i4", "int32", 4},
                                            {"<i8", "int64", 8},
                                            {"<f2", "float16", 2},
                                            {"<f4", "float32", 4},
                                            {"<f8", "float64", 8}}};

struct NpyHeader {
  const NpyType* type = nullptr;
  std::vector<std::int64_t> sizes;
  std::uint64_t begin = 0;  // of the array, to the end of the file
};

// Of a file of so many bytes that begins like this: with kLongestNpyHeader bytes of it, or all where it is shorter. The
// path only says in errors which one it was. Throws Error as read_npy does (npy.h).
NpyHeader parse_npy_header(std::string_view beginning, std::uint64_t length, const std::filesystem::path& path);

}  // namespace anesi
