#include "anesi/io/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "anesi/io/fail.h"
#include "anesi/io/files.h"
#include "anesi/io/input_file.h"
#include "anesi/io/npy_header.h"

namespace anesi {
namespace {

constexpr std::size_t kAlignment = 64;  // where NumPy lets the bytes of an array begin

}  // namespace

Array read_npy(const std::filesystem::path& path) {
  const InputFile file(path, kLargestArrays);
  const auto beginning = file.take(0, std::min(file.size(), kLongestNpyHeader));
  const auto header = parse_npy_header(beginning, file.size(), path);
  Array array(header.type->type, header.sizes);
  file.read(header.begin, static_cast<char*>(array.data()), static_cast<std::uint64_t>(array.bytes()));
  return array;
}

void write_npy(const std::filesystem::path& path, const Array& array) {
  const auto* const found = std::ranges::find(kNpyTypes, array.type(), &NpyType::type);
  if (found == kNpyTypes.end()) fail(path, fmt::format("NPY has no elements of type {}", facts_of(array.type()).name));
  auto header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", found->description,
                            fmt::join(array.shape(), ", "), array.dimensions() == 1 ? "," : "");
  const auto before = kNpyMagic.size() + 4;
  header.append(kAlignment - 1 - (before + header.size()) % kAlignment, ' ');
  header += '\n';
  const std::string start = std::string(kNpyMagic) + '\x01' + '\x00' + static_cast<char>(header.size() & 255) +
                            static_cast<char>(header.size() >> 8);
  const std::string_view pieces[] = {
      start, header, {static_cast<const char*>(array.data()), static_cast<std::size_t>(array.bytes())}};
  write_file_atomically(path, pieces);
}

}  // namespace anesi
