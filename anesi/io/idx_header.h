// What an IDX file says of its array, compared with the file's length.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace anesi {

constexpr char kIdxUnsignedByte = 0x08;

struct IdxArray {
  std::vector<std::int64_t> sizes;  // [labels] or [images, height, width]
  std::string_view bytes;           // of the contents, one for each element
};

// Of all of a file. The path only says in errors which one it was. Throws Error as read_idx does (idx.h).
IdxArray parse_idx_array(std::string_view contents, const std::filesystem::path& path);

}  // namespace anesi
