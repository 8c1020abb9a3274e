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

// In the order of kNpyTypes.
constexpr std::array<torch::ScalarType, kNpyTypes.size()> kNpyTypesOfTorch{
    torch::kUInt8, torch::kInt8,    torch::kBool,    torch::kInt16,  torch::kInt32,
    torch::kInt64, torch::kFloat16, torch::kFloat32, torch::kFloat64};

}  // namespace

torch::Tensor read_npy(const std::filesystem::path& path) {
  const InputFile file(path, kLargestArrays);
  const auto beginning = file.take(0, std::min(file.size(), kLongestNpyHeader));
  const auto header = parse_npy_header(beginning, file.size(), path);
  const auto type = kNpyTypesOfTorch[static_cast<std::size_t>(header.type - kNpyTypes.data())];
  auto array = torch::empty(header.sizes, type);
  file.read(header.begin, static_cast<char*>(array.data_ptr()), array.nbytes());
  return array;
}

void write_npy(const std::filesystem::path& path, const torch::Tensor& array) {
  const auto* const found = std::find(kNpyTypesOfTorch.begin(), kNpyTypesOfTorch.end(), array.scalar_type());
  if (found == kNpyTypesOfTorch.end()) {
    fail(path, fmt::format("NPY has no elements of type {}", torch::toString(array.scalar_type())));
  }
  auto header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                            kNpyTypes[static_cast<std::size_t>(found - kNpyTypesOfTorch.begin())].description,
                            fmt::join(array.sizes(), ", "), array.dim() == 1 ? "," : "");
  const auto before = kNpyMagic.size() + 4;
  header.append(kAlignment - 1 - (before + header.size()) % kAlignment, ' ');
  header += '\n';
  const std::string start = std::string(kNpyMagic) + '\x01' + '\x00' + static_cast<char>(header.size() & 255) +
                            static_cast<char>(header.size() >> 8);
  const auto bytes = array.cpu().contiguous();
  const std::string_view pieces[] = {
      start, header, {static_cast<const char*>(bytes.const_data_ptr()), static_cast<std::size_t>(bytes.nbytes())}};
  write_file_atomically(path, pieces);
}

}  // namespace anesi
