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

torch::Tensor parse_idx(std::string_view contents, const std::filesystem::path& path) {
  const auto [sizes, bytes] = parse_idx_array(contents, path);
  torch::Tensor array = torch::empty(sizes, torch::kUInt8);
  if (!bytes.empty()) std::memcpy(array.data_ptr(), bytes.data(), bytes.size());
  return array;
}

torch::Tensor read_idx(const std::filesystem::path& path) { return parse_idx(read_file(path, kLargestArrays), path); }

void write_idx(const std::filesystem::path& path, const torch::Tensor& array) {
  if (array.scalar_type() != torch::kUInt8 || (array.dim() != 1 && array.dim() != 3)) {
    fail(path, fmt::format("an IDX file holds uint8 labels [n] or images [n, height, width], not {} in {} dimensions",
                           torch::toString(array.scalar_type()), array.dim()));
  }
  std::string header = {0, 0, kIdxUnsignedByte, static_cast<char>(array.dim())};
  for (const std::int64_t size : array.sizes()) {
    if (size > std::numeric_limits<std::uint32_t>::max()) {
      fail(path, fmt::format("a dimension of {}; an IDX file holds sizes below 2^32",
                             thousands(static_cast<std::uint64_t>(size))));
    }
    for (int shift = 24; shift >= 0; shift -= 8) header += static_cast<char>((size >> shift) & 255);
  }
  const torch::Tensor bytes = array.cpu().contiguous();
  const std::string_view pieces[] = {
      header, {static_cast<const char*>(bytes.const_data_ptr()), static_cast<std::size_t>(bytes.numel())}};
  write_file_atomically(path, pieces);
}

}  // namespace anesi
