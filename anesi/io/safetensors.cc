#include "anesi/io/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/io/fail.h"
#include "anesi/io/files.h"
#include "anesi/io/thousands.h"

namespace anesi {
namespace {

using nlohmann::json;
using Path = std::filesystem::path;

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and copied as it stands");

constexpr std::string_view kMetadata = "__metadata__";  // the one name that is not a tensor
constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;  // as in the reference reader
constexpr std::size_t kMostDimensions = 64;            // torch works with no more

struct NamedType {
  std::string_view name;
  torch::ScalarType type;
};

constexpr std::array<NamedType, 10> kTypes = {{{"F64", torch::kFloat64},
                                               {"F32", torch::kFloat32},
                                               {"F16", torch::kFloat16},
                                               {"BF16", torch::kBFloat16},
                                               {"I64", torch::kInt64},
                                               {"I32", torch::kInt32},
                                               {"I16", torch::kInt16},
                                               {"I8", torch::kInt8},
                                               {"U8", torch::kUInt8},
                                               {"BOOL", torch::kBool}}};

// A name as it can stand in a message of one line, whatever it holds.
std::string in_quotes(std::string_view name) { return json(name).dump(-1, ' ', true, json::error_handler_t::replace); }

[[noreturn]] void fail_at_tensor(const Path& path, std::string_view tensor, std::string_view what) {
  throw Error(fmt::format("{}: tensor {}: {}", path.string(), in_quotes(tensor), what));
}

// ---- Writing ----

struct Outgoing {
  std::string name;
  std::string_view type;
  torch::Tensor tensor;  // contiguous, on the CPU
};

Outgoing prepare(const Path& path, const std::string& name, const torch::Tensor& tensor) {
  if (name == kMetadata) fail_at_tensor(path, name, "this name is reserved by the format; choose another");
  if (!tensor.defined()) fail_at_tensor(path, name, "is undefined, so there is nothing to write");
  const auto* type = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const NamedType& known) { return known.type == tensor.scalar_type(); });
  if (type == kTypes.end()) {
    fail_at_tensor(path, name, fmt::format("dtype {} cannot be written", torch::toString(tensor.scalar_type())));
  }
  if (tensor.layout() != torch::kStrided) fail_at_tensor(path, name, "is sparse; only dense tensors can be written");
  return {name, type->name, tensor.detach().cpu().resolve_neg().contiguous()};
}

std::string_view bytes_of(const torch::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

std::string serialized_header(const Path& path, const std::vector<Outgoing>& outgoing,
                              const std::map<std::string, std::string>& metadata) {
  json header = json::object();
  if (!metadata.empty()) header[std::string(kMetadata)] = metadata;
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
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  return text;
}

// ---- Reading ----

struct Place {
  std::string name;
  torch::ScalarType type;
  std::vector<std::int64_t> shape;
  std::uint64_t begin;
  std::uint64_t end;  // in bytes of the data, one past the last
};

torch::ScalarType parse_type(const Path& path, const std::string& name, const json& entry) {
  const auto found = entry.find("dtype");
  if (found == entry.end() || !found->is_string()) fail_at_tensor(path, name, "its header has no dtype");
  const auto& text = found->get_ref<const std::string&>();
  const auto* type =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const NamedType& known) { return known.name == text; });
  if (type == kTypes.end())
    fail_at_tensor(path, name, fmt::format("dtype {} is not one that can be read here", in_quotes(text)));
  return type->type;
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

// The bytes a tensor of this shape takes. A zero in the shape hides no overflow of the rest: torch's strides would.
std::uint64_t bytes_for(const Path& path, const std::string& name, const std::vector<std::int64_t>& shape,
                        torch::ScalarType type) {
  auto bytes = static_cast<std::int64_t>(torch::elementSize(type));
  bool empty = false;
  for (const std::int64_t size : shape) {
    empty = empty || size == 0;
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes)) {
      fail_at_tensor(path, name, "its shape is larger than any file holds; the header is damaged");
    }
  }
  return empty ? 0 : static_cast<std::uint64_t>(bytes);
}

Place parse_place(const Path& path, const std::string& name, const json& entry, std::uint64_t data_bytes) {
  if (!entry.is_object()) fail_at_tensor(path, name, "its header is not an object");
  Place place{name, parse_type(path, name, entry), {}, 0, 0};
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
  json header;
  try {
    header = json::parse(text);
  } catch (const json::parse_error& error) {
    fail(path, fmt::format("its header is not JSON (at byte {}); the file is damaged", thousands(error.byte)));
  } catch (const json::exception&) {
    fail(path, "its header is not JSON that can be read; the file is damaged");
  }
  if (!header.is_object()) fail(path, "its header is not a JSON object; this is not a safetensors file");
  return header;
}

// Sorted by place, each tensor must begin where the one before ended, and the last must end with the file.
void check_cover(const Path& path, std::vector<Place>& places, std::uint64_t data_bytes) {
  std::sort(places.begin(), places.end(), [](const Place& left, const Place& right) {
    return std::pair(left.begin, left.end) < std::pair(right.begin, right.end);
  });
  std::uint64_t covered = 0;
  for (const Place& place : places) {
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

torch::Tensor copy_of(const Path& path, const Place& place, std::string_view bytes) {
  torch::Tensor tensor = torch::empty(place.shape, place.type);
  if (place.type == torch::kBool && !std::all_of(bytes.begin(), bytes.end(), [](char b) { return b == 0 || b == 1; })) {
    fail_at_tensor(path, place.name, "it is BOOL but holds bytes other than 0 and 1; the file is damaged");
  }
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
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

namespace {

// The length of the header, of a file that begins like this and has so many bytes.
std::uint64_t header_length(const Path& path, std::string_view beginning, std::uint64_t file_bytes) {
  if (beginning.size() < kLengthBytes) {
    fail(path, fmt::format("the file has {} bytes, less than a safetensors header; it is cut short", beginning.size()));
  }
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, beginning.data(), kLengthBytes);
  if (bytes > file_bytes - kLengthBytes || bytes > kLongestHeader) {
    fail(path, fmt::format("a header of {} bytes in a file of {}; it is cut short or not a safetensors file",
                           thousands(bytes), thousands(file_bytes)));
  }
  return bytes;
}

struct SafetensorsHeader {
  std::vector<Place> places;
  std::map<std::string, std::string> metadata;
};

SafetensorsHeader read_header(const Path& path, std::string_view text, std::uint64_t data_bytes) {
  SafetensorsHeader header;
  const json entries = parse_header(path, text);
  for (const auto& [name, entry] : entries.items()) {
    if (name == kMetadata) {
      header.metadata = parse_metadata(path, entry);
    } else {
      header.places.push_back(parse_place(path, name, entry, data_bytes));
    }
  }
  check_cover(path, header.places, data_bytes);
  return header;
}

}  // namespace

SafetensorsFile read_safetensors(const Path& path) {
  const std::string contents = read_file(path);
  const auto header_bytes = header_length(path, contents, contents.size());
  const std::string_view text = std::string_view(contents).substr(kLengthBytes, header_bytes);
  const std::string_view data = std::string_view(contents).substr(kLengthBytes + header_bytes);
  auto header = read_header(path, text, data.size());
  SafetensorsFile file;
  file.metadata = std::move(header.metadata);
  for (const Place& place : header.places) {
    file.tensors[place.name] = copy_of(path, place, data.substr(place.begin, place.end - place.begin));
  }
  return file;
}

std::map<std::string, std::vector<std::int64_t>> read_safetensors_shapes(const Path& path) {
  std::error_code failure;
  const std::uint64_t file_bytes = std::filesystem::file_size(path, failure);
  if (failure) fail(path, fmt::format("cannot read: {}", failure.message()));
  std::ifstream file(path, std::ios::binary);
  const auto read = [&](std::uint64_t bytes) {
    std::string text(bytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(bytes));
    if (!file) fail(path, "cannot read; the file is cut short");
    return text;
  };
  const auto header_bytes = header_length(path, read(std::min<std::uint64_t>(file_bytes, kLengthBytes)), file_bytes);
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (auto& place : read_header(path, read(header_bytes), file_bytes - kLengthBytes - header_bytes).places) {
    shapes[place.name] = std::move(place.shape);
  }
  return shapes;
}

}  // namespace anesi
