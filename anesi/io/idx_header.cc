#include "anesi/io/idx_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "anesi/io/fail.h"
#include "anesi/io/thousands.h"

namespace anesi {
namespace {

std::int64_t big_endian_size(std::string_view bytes) {
  std::int64_t size = 0;
  for (const char byte : bytes.substr(0, 4)) size = size * 256 + static_cast<unsigned char>(byte);
  return size;
}

// Three sizes of 32 bits can multiply to more than 64 bits hold; then there is no such file. A size of zero hides no
// overflow of the others, which would overflow the strides of a tensor.
std::optional<std::int64_t> product(const std::vector<std::int64_t>& sizes) {
  std::int64_t result = 1;
  bool empty = false;
  for (const std::int64_t size : sizes) {
    empty = empty || size == 0;
    if (__builtin_mul_overflow(result, std::max<std::int64_t>(size, 1), &result)) return std::nullopt;
  }
  return empty ? 0 : result;
}

std::string in_words(const std::vector<std::int64_t>& sizes) {
  const std::string count = thousands(static_cast<std::uint64_t>(sizes[0]));
  return sizes.size() == 1 ? count + " labels" : fmt::format("{} images of {}x{}", count, sizes[1], sizes[2]);
}

// The header's sizes, once its first four bytes are what they should be.
std::vector<std::int64_t> parse_sizes(std::string_view contents, const std::filesystem::path& path) {
  if (contents.empty()) fail(path, "the file is empty");
  if (contents.starts_with("\x1f\x8b")) fail(path, "the file is compressed; unpack it with gunzip");
  if (contents.size() < 4) {
    fail(path, fmt::format("the file has {} bytes, less than an IDX header; it is cut short", contents.size()));
  }
  if (contents[0] != 0 || contents[1] != 0) fail(path, "this is not an IDX file: its first two bytes are not zero");
  if (contents[2] != kIdxUnsignedByte) {
    fail(path, fmt::format("elements of IDX type 0x{:02x}; only unsigned bytes (0x08) are read",
                           static_cast<unsigned char>(contents[2])));
  }
  const auto dimensions = static_cast<unsigned char>(contents[3]);
  if (dimensions != 1 && dimensions != 3) {
    fail(path, fmt::format("an array of {} dimensions; labels have 1 and images 3", dimensions));
  }
  const std::size_t header = 4 + 4 * std::size_t{dimensions};
  if (contents.size() < header) {
    fail(path, fmt::format("the file has {} bytes, its IDX header alone {}; it is cut short", contents.size(), header));
  }
  std::vector<std::int64_t> sizes;
  for (std::size_t at = 4; at < header; at += 4) sizes.push_back(big_endian_size(contents.substr(at)));
  return sizes;
}

}  // namespace

IdxArray parse_idx_array(std::string_view contents, const std::filesystem::path& path) {
  const std::vector<std::int64_t> sizes = parse_sizes(contents, path);
  const std::size_t header = 4 + 4 * sizes.size();
  const std::optional<std::int64_t> elements = product(sizes);
  if (!elements) fail(path, fmt::format("header says {}, more than any file holds; it is damaged", in_words(sizes)));
  const std::uint64_t expected = header + static_cast<std::uint64_t>(*elements);
  if (contents.size() != expected) {
    fail(path,
         fmt::format("header says {} ({} bytes), the file has {}; {}", in_words(sizes), thousands(expected),
                     thousands(contents.size()), contents.size() < expected ? "it is cut short" : "it is too long"));
  }
  return {sizes, contents.substr(header)};
}

}  // namespace anesi
