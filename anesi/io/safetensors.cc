#include "anesi/io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
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

// ---- Writing ----

struct Outgoing {
  std::string name;
  const Array* array;
};

std::string serialized_header(const Path& path, const std::vector<Outgoing>& outgoing,
                              const std::map<std::string, std::string>& metadata) {
  json header = json::object();
  if (!metadata.empty()) header[std::string(kSafetensorsMetadata)] = metadata;
  std::size_t end = 0;
  for (const Outgoing& one : outgoing) {
    const std::size_t begin = std::exchange(end, end + static_cast<std::size_t>(one.array->bytes()));
    const auto type = kSafetensorsTypes[static_cast<std::size_t>(one.array->type())];
    header[one.name] = {{"dtype", type}, {"shape", one.array->shape()}, {"data_offsets", {begin, end}}};
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception&) {
    fail(path, "an array's name or the metadata is not UTF-8, which the format asks for");
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

Array read_array(const InputFile& file, const StoredTensor& stored, std::uint64_t begin_of_data) {
  Array array(stored.type, stored.shape);
  auto* const bytes = static_cast<char*>(array.data());
  const auto count = stored.end - stored.begin;
  file.read(begin_of_data + stored.begin, bytes, count);
  if (stored.type == NumberType::kBool &&
      !std::all_of(bytes, bytes + count, [](char byte) { return byte == 0 || byte == 1; })) {
    fail_at_tensor(file.path(), stored.name, "it is BOOL but holds bytes other than 0 and 1; the file is damaged");
  }
  return array;
}

}  // namespace

void write_safetensors(const Path& path, const NamedArrays& arrays,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<Outgoing> outgoing;
  outgoing.reserve(arrays.size());
  for (const auto& [name, array] : arrays) {
    if (name == kSafetensorsMetadata) {
      fail_at_tensor(path, name, "this name is reserved by the format; choose another");
    }
    outgoing.push_back({name, &array});
  }
  std::stable_sort(outgoing.begin(), outgoing.end(), [](const Outgoing& left, const Outgoing& right) {
    return facts_of(left.array->type()).bytes > facts_of(right.array->type()).bytes;
  });
  const std::string header = serialized_header(path, outgoing, metadata);
  std::string length;
  for (unsigned shift = 0; shift < 64; shift += 8) length += static_cast<char>((header.size() >> shift) & 255U);

  std::vector<std::string_view> pieces = {length, header};
  pieces.reserve(2 + outgoing.size());
  for (const auto& [name, array] : outgoing) {
    pieces.emplace_back(static_cast<const char*>(array->data()), static_cast<std::size_t>(array->bytes()));
  }
  write_file_atomically(path, pieces);
}

SafetensorsFile read_safetensors(const Path& path) {
  const InputFile source(path, kLargestArrays);
  auto [header, begin] = read_header(source);
  SafetensorsFile file;
  file.metadata = std::move(header.metadata);
  for (const auto& stored : header.tensors) file.arrays[stored.name] = read_array(source, stored, begin);
  return file;
}

std::map<std::string, std::vector<std::int64_t>> read_safetensors_shapes(const Path& path) {
  const InputFile file(path, kLargestArrays);
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (auto& stored : read_header(file).first.tensors) shapes[stored.name] = std::move(stored.shape);
  return shapes;
}

}  // namespace anesi
