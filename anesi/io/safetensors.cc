#include "anesi/io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "anesi/io/fail.h"
#include "anesi/io/files.h"
#include "anesi/io/input_file.h"
#include "anesi/io/safetensors_header.h"
#include "anesi/io/safetensors_name.h"

namespace anesi {
namespace {

using nlohmann::json;
using Path = std::filesystem::path;

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and copied as it stands");

// In the order of kSafetensorsTypes.
constexpr std::array<torch::ScalarType, kSafetensorsTypes.size()> kSafetensorsTypesOfTorch = {
    torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16, torch::kInt64,
    torch::kInt32,   torch::kInt16,   torch::kInt8,    torch::kUInt8,    torch::kBool};

// ---- Writing ----

struct Outgoing {
  std::string name;
  std::string_view type;
  torch::Tensor tensor;  // contiguous, on the CPU
};

Outgoing prepare(const Path& path, const std::string& name, const torch::Tensor& tensor) {
  if (name == kSafetensorsMetadata) fail_at_tensor(path, name, "this name is reserved by the format; choose another");
  if (!tensor.defined()) fail_at_tensor(path, name, "is undefined, so there is nothing to write");
  const auto* const type =
      std::find(kSafetensorsTypesOfTorch.begin(), kSafetensorsTypesOfTorch.end(), tensor.scalar_type());
  if (type == kSafetensorsTypesOfTorch.end()) {
    fail_at_tensor(path, name, fmt::format("dtype {} cannot be written", torch::toString(tensor.scalar_type())));
  }
  if (tensor.layout() != torch::kStrided) fail_at_tensor(path, name, "is sparse; only dense tensors can be written");
  return {name, kSafetensorsTypes[static_cast<std::size_t>(type - kSafetensorsTypesOfTorch.begin())].name,
          tensor.detach().cpu().resolve_neg().contiguous()};
}

std::string_view bytes_of(const torch::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

std::string serialized_header(const Path& path, const std::vector<Outgoing>& outgoing,
                              const std::map<std::string, std::string>& metadata) {
  json header = json::object();
  if (!metadata.empty()) header[std::string(kSafetensorsMetadata)] = metadata;
  std::size_t end = 0;
  for (const Outgoing& one : outgoing) {
    const std::size_t begin = std::exchange(end, end + one.tensor.nbytes());
    header[one.name] = {{"dtype", one.type}, {"shape", one.tensor.sizes().vec()}, {"data_offsets", {begin, end}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception&) {
    fail(path, "a tensor's name or the metadata is not UTF-8, which the format asks for");
  }
  text.append((kSafetensorsLengthBytes - text.size() % kSafetensorsLengthBytes) % kSafetensorsLengthBytes, ' ');
  return text;
}

// ---- Reading ----

// The header of a file, and where the data begins behind it.
std::pair<SafetensorsHeader, std::uint64_t> read_header(const InputFile& file) {
  const auto beginning = file.take(0, std::min<std::uint64_t>(file.size(), kSafetensorsLengthBytes));
  const auto length = safetensors_header_length(beginning, file.size(), file.path());
  const auto begin = kSafetensorsLengthBytes + length;
  const auto text = file.take(kSafetensorsLengthBytes, length);
  return {parse_safetensors_header(text, file.size() - begin, file.path()), begin};
}

torch::Tensor read_tensor(const InputFile& file, const StoredTensor& stored, std::uint64_t begin_of_data) {
  const auto type = kSafetensorsTypesOfTorch[static_cast<std::size_t>(stored.type - kSafetensorsTypes.data())];
  torch::Tensor tensor = torch::empty(stored.shape, type);
  auto* const bytes = static_cast<char*>(tensor.data_ptr());
  const auto count = stored.end - stored.begin;
  file.read(begin_of_data + stored.begin, bytes, count);
  if (type == torch::kBool && !std::all_of(bytes, bytes + count, [](char byte) { return byte == 0 || byte == 1; })) {
    fail_at_tensor(file.path(), stored.name, "it is BOOL but holds bytes other than 0 and 1; the file is damaged");
  }
  return tensor;
}

}  // namespace

void write_safetensors(const Path& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<Outgoing> outgoing;
  outgoing.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) outgoing.push_back(prepare(path, name, tensor));
  std::stable_sort(outgoing.begin(), outgoing.end(), [](const Outgoing& left, const Outgoing& right) {
    return left.tensor.element_size() > right.tensor.element_size();
  });
  const std::string header = serialized_header(path, outgoing, metadata);
  std::string length;
  for (unsigned shift = 0; shift < 64; shift += 8) length += static_cast<char>((header.size() >> shift) & 255U);

  std::vector<std::string_view> pieces = {length, header};
  pieces.reserve(2 + outgoing.size());
  for (const Outgoing& one : outgoing) pieces.push_back(bytes_of(one.tensor));
  write_file_atomically(path, pieces);
}

SafetensorsFile read_safetensors(const Path& path) {
  const InputFile source(path, kLargestArrays);
  auto [header, begin] = read_header(source);
  SafetensorsFile file;
  file.metadata = std::move(header.metadata);
  for (const auto& stored : header.tensors) file.tensors[stored.name] = read_tensor(source, stored, begin);
  return file;
}

std::map<std::string, std::vector<std::int64_t>> read_safetensors_shapes(const Path& path) {
  const InputFile file(path, kLargestArrays);
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (auto& stored : read_header(file).first.tensors) shapes[stored.name] = std::move(stored.shape);
  return shapes;
}

}  // namespace anesi
