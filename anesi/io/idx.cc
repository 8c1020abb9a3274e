#include "anesi/io/idx.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "anesi/io/fail.h"
#include "anesi/io/files.h"
#include "anesi/io/idx_header.h"
#include "anesi/io/input_file.h"
#include "anesi/io/thousands.h"

namespace anesi {

Array parse_idx(std::string_view contents, const std::filesystem::path& path) {
  const auto [sizes, bytes] = parse_idx_array(contents, path);
  Array array(NumberType::kUInt8, sizes);
  if (!bytes.empty()) std::memcpy(array.data(), bytes.data(), bytes.size());
  return array;
}

Array read_idx(const std::filesystem::path& path) { return parse_idx(read_file(path, kLargestArrays), path); }

void write_idx(const std::filesystem::path& path, const Array& array) {
  if (array.type() != NumberType::kUInt8 || (array.dimensions() != 1 && array.dimensions() != 3)) {
    fail(path,
         fmt::format("an IDX file holds uint8 labels [n] or images [n, height, width], not {}", array.to_string()));
  }
  std::string header = {0, 0, kIdxUnsignedByte, static_cast<char>(array.dimensions())};
  for (const std::int64_t size : array.shape()) {
    if (size > std::numeric_limits<std::uint32_t>::max()) {
      fail(path, fmt::format("a dimension of {}; an IDX file holds sizes below 2^32",
                             thousands(static_cast<std::uint64_t>(size))));
    }
    for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>((size >> shift) & 255);
  }
  const std::string_view pieces[] = {header,
                                     {static_cast<const char*>(array.data()), static_cast<std::size_t>(array.bytes())}};
  write_file_atomically(path, pieces);
}

}  // namespace anesi
