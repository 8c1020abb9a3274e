#include "anesi/io/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "anesi/io/fail.h"
#include "anesi/io/input_file.h"
#include "anesi/io/json_text.h"
#include "anesi/io/safetensors_name.h"
#include "anesi/io/thousands.h"

namespace anesi {
namespace {

using nlohmann::json;
using Path = std::filesystem::path;

constexpr std::size_t kMostDimensions = 64;  // as many as frameworks work with

NumberType parse_type(const Path& path, const std::string& name, const json& entry) {
  const auto found = entry.find("dtype");
  if (found == entry.end() || !found->is_string()) fail_at_tensor(path, name, "its header has no dtype");
  const auto& text = found->get_ref<const std::string&>();
  const auto* const type = std::ranges::find(kSafetensorsTypes, text);
  if (type == kSafetensorsTypes.end())
    fail_at_tensor(path, name, fmt::format("dtype {} is not one that can be read here", in_quotes(text)));
  return static_cast<NumberType>(type - kSafetensorsTypes.begin());
}

std::vector<std::uint64_t> parse_numbers(const Path& path, const std::string& name, const json& entry,
                                         const char* key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_array()) fail_at_tensor(path, name, fmt::format("its header has no {}", key));
  std::vector<std::uint64_t> numbers;
  numbers.reserve(found->size());
  for (const json& number : *found) {
    if (!number.is_number_unsigned() ||
        number.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      fail_at_tensor(path, name, fmt::format("its {} holds something other than a whole number below 2^63", key));
    }
    numbers.push_back(number.get<std::uint64_t>());
  }
  return numbers;
}

// The bytes a tensor of this shape takes. A zero in the shape hides no overflow of the rest: strides would.
std::uint64_t bytes_for(const Path& path, const std::string& name, const std::vector<std::int64_t>& shape,
                        NumberType type) {
  auto bytes = facts_of(type).bytes;
  bool empty = false;
  for (const std::int64_t size : shape) {
    empty = empty || size == 0;
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes)) {
      fail_at_tensor(path, name, "its shape is larger than any file holds; the header is damaged");
    }
  }
  return empty ? 0 : static_cast<std::uint64_t>(bytes);
}

StoredTensor parse_place(const Path& path, const std::string& name, const json& entry, std::uint64_t data_bytes) {
  if (!entry.is_object()) fail_at_tensor(path, name, "its header is not an object");
  StoredTensor place{name, parse_type(path, name, entry), {}, 0, 0};
  const std::vector<std::uint64_t> shape = parse_numbers(path, name, entry, "shape");
  if (shape.size() > kMostDimensions) fail_at_tensor(path, name, fmt::format("it has {} dimensions", shape.size()));
  place.shape.assign(shape.begin(), shape.end());
  const std::vector<std::uint64_t> offsets = parse_numbers(path, name, entry, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    fail_at_tensor(path, name, "its data_offsets are not a begin and an end");
  place.begin = offsets[0];
  place.end = offsets[1];
  if (place.end > data_bytes) {
    fail_at_tensor(path, name,
                   fmt::format("its data ends at byte {} of {}; the file is cut short or damaged", thousands(place.end),
                               thousands(data_bytes)));
  }
  const std::uint64_t needed = bytes_for(path, name, place.shape, place.type);
  if (needed != place.end - place.begin) {
    fail_at_tensor(path, name,
                   fmt::format("its shape takes {} bytes, its data_offsets give {}; the header is damaged",
                               thousands(needed), thousands(place.end - place.begin)));
  }
  return place;
}

std::map<std::string, std::string> parse_metadata(const Path& path, const json& entry) {
  std::map<std::string, std::string> metadata;
  if (!entry.is_object()) fail(path, "its metadata is not an object of strings");
  for (const auto& [key, value] : entry.items()) {
    if (!value.is_string()) fail(path, fmt::format("metadata {} is not a string", in_quotes(key)));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

json parse_header(const Path& path, std::string_view text) {
  auto header = parse_json(text, path, "its header is not JSON");
  if (!header.is_object()) fail(path, "its header is not a JSON object; this is not a safetensors file");
  return header;
}

// Sorted by place, each tensor must begin where the one before ended, and the last must end with the file.
void check_cover(const Path& path, std::vector<StoredTensor>& places, std::uint64_t data_bytes) {
  std::sort(places.begin(), places.end(), [](const StoredTensor& left, const StoredTensor& right) {
    return std::pair(left.begin, left.end) < std::pair(right.begin, right.end);
  });
  std::uint64_t covered = 0;
  for (const StoredTensor& place : places) {
    if (place.begin != covered) {
      fail_at_tensor(path, place.name,
                     fmt::format("its data begins at byte {}, {} that of the tensor before, which ends at {}",
                                 thousands(place.begin), place.begin < covered ? "inside" : "with a gap after",
                                 thousands(covered)));
    }
    covered = place.end;
  }
  if (covered != data_bytes) {
    fail(path, fmt::format("{} bytes at the end belong to no tensor; the file is too long or its header damaged",
                           thousands(data_bytes - covered)));
  }
}

}  // namespace

std::uint64_t safetensors_header_length(std::string_view beginning, std::uint64_t file_bytes, const Path& path) {
  if (beginning.size() < kSafetensorsLengthBytes) {
    fail(path, fmt::format("the file has {} bytes, less than a safetensors header; it is cut short", beginning.size()));
  }
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, beginning.data(), kSafetensorsLengthBytes);
  if (bytes > file_bytes - kSafetensorsLengthBytes || bytes > kLargestJson) {
    fail(path, fmt::format("a header of {} bytes in a file of {}; it is cut short or not a safetensors file",
                           thousands(bytes), thousands(file_bytes)));
  }
  return bytes;
}

SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_bytes, const Path& path) {
  SafetensorsHeader header;
  const json entries = parse_header(path, text);
  for (const auto& [name, entry] : entries.items()) {
    if (name == kSafetensorsMetadata) {
      header.metadata = parse_metadata(path, entry);
    } else {
      header.tensors.push_back(parse_place(path, name, entry, data_bytes));
    }
  }
  check_cover(path, header.tensors, data_bytes);
  return header;
}

}  // namespace anesi
