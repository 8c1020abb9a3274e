#include "anesi/io/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "anesi/io/fail.h"
#include "anesi/io/files.h"
#include "anesi/io/thousands.h"

namespace anesi {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;                  // where NumPy lets the bytes of an array begin
constexpr std::uint32_t kLongestDescription = 1 << 16;  // a description takes a line; more is damage

struct NumberType {
  std::string_view description;  // as NumPy writes it
  std::string_view name;
  torch::ScalarType type;
};

constexpr std::array<NumberType, 9> kNumberTypes{{{"|u1", "uint8", torch::kUInt8},
                                                  {"|i1", "int8", torch::kInt8},
                                                  {"|b1", "bool", torch::kBool},
                                                  {"<i2", "int16", torch::kInt16},
                                                  {"<i4", "int32", torch::kInt32},
                                                  {"<i8", "int64", torch::kInt64},
                                                  {"<f2", "float16", torch::kFloat16},
                                                  {"<f4", "float32", torch::kFloat32},
                                                  {"<f8", "float64", torch::kFloat64}}};

struct Header {
  const NumberType* type = nullptr;
  std::vector<std::int64_t> sizes;
};

// Reads the description, a Python dictionary with three entries: {'descr': '|u1', 'fortran_order': False, 'shape': (5,
// 2), }.
class Description {
 public:
  Description(std::string_view text, const std::filesystem::path& path) : text_(text), path_(path) {}

  Header parse() {
    Header header;
    std::optional<bool> fortran_order;
    bool shaped = false;
    expect('{');
    while (!take('}')) {
      const auto key = quoted();
      expect(':');
      if (key == "descr" && header.type == nullptr) {
        header.type = type();
      } else if (key == "fortran_order" && !fortran_order) {
        fortran_order = truth();
      } else if (key == "shape" && !shaped) {
        header.sizes = sizes();
        shaped = true;
      } else {
        damaged();
      }
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (header.type == nullptr || !fortran_order || !shaped || !rest_is_blank()) damaged();
    if (*fortran_order && header.sizes.size() > 1) {
      fail(path_, "the array is in Fortran order; save it again with numpy.ascontiguousarray");
    }
    return header;
  }

 private:
  [[noreturn]] void damaged() const { fail(path_, "the header does not describe an array; the file is damaged"); }

  void skip_blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \n"), text_.size())); }

  bool rest_is_blank() {
    skip_blanks();
    return text_.empty();
  }

  bool take(char wanted) {
    skip_blanks();
    if (!text_.starts_with(wanted)) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) damaged();
  }

  std::string_view quoted() {
    const char mark = take('\'') ? '\'' : '"';
    if (mark == '"') expect('"');
    const auto end = text_.find(mark);
    if (end == std::string_view::npos) damaged();
    const auto word = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return word;
  }

  const NumberType* type() {
    if (take('[')) fail(path_, "elements of several fields; only plain numbers are read");
    const auto description = quoted();
    const auto* found = std::find_if(kNumberTypes.begin(), kNumberTypes.end(),
                                     [&](const NumberType& type) { return type.description == description; });
    if (found == kNumberTypes.end()) {
      fail(path_, fmt::format("elements of NumPy type '{}'; read are {}", description,
                              fmt::join(kNumberTypes | std::views::transform(&NumberType::name), ", ")));
    }
    return found;
  }

  bool truth() {
    skip_blanks();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    damaged();
  }

  std::vector<std::int64_t> sizes() {
    std::vector<std::int64_t> result;
    expect('(');
    while (!take(')')) {
      skip_blanks();
      std::int64_t size = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) damaged();
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      result.push_back(size);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }

  std::string_view text_;
  const std::filesystem::path& path_;
};

std::string in_words(const Header& header) {
  return fmt::format("{} [{}]", header.type->name, fmt::join(header.sizes, ", "));
}

// How many bytes the array takes; none where 64 bits do not hold the number. A size of zero hides no overflow of the
// others.
std::optional<std::int64_t> bytes_of(const Header& header) {
  auto bytes = static_cast<std::int64_t>(torch::elementSize(header.type->type));
  bool empty = false;
  for (const auto size : header.sizes) {
    empty = empty || size == 0;
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes)) return std::nullopt;
  }
  return empty ? 0 : bytes;
}

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (auto at = bytes.size(); at > 0; --at) number = number << 8 | static_cast<unsigned char>(bytes[at - 1]);
  return number;
}

}  // namespace

torch::Tensor read_npy(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file || !std::filesystem::is_regular_file(path)) fail(path, "cannot read: no such file");
  const auto length = std::filesystem::file_size(path);
  if (length == 0) fail(path, "the file is empty");
  const auto take = [&](std::size_t count) {
    std::string bytes(count, '\0');
    if (!file.read(bytes.data(), static_cast<std::streamsize>(count))) {
      fail(path, fmt::format("the file has {} bytes, less than its NPY header; it is cut short", thousands(length)));
    }
    return bytes;
  };
  const auto start = take(std::min<std::size_t>(length, kMagic.size()));
  if (start != kMagic) fail(path, "this is not an NPY file: it does not begin as one");
  const auto version = take(2);
  if (version[0] < 1 || version[0] > 3) {
    fail(path, fmt::format("version {} of the NPY format; versions 1 to 3 are read", static_cast<int>(version[0])));
  }
  const auto header_length = little_endian(take(version[0] == 1 ? 2 : 4));
  if (header_length > kLongestDescription) {
    fail(path, fmt::format("a header of {} bytes; the file is damaged", thousands(header_length)));
  }
  const auto description = take(header_length);
  const auto header = Description(description, path).parse();

  const auto begin = static_cast<std::uint64_t>(file.tellg());
  const auto bytes = bytes_of(header);
  if (!bytes) fail(path, fmt::format("header says {}, more than any file holds; it is damaged", in_words(header)));
  const auto expected = begin + static_cast<std::uint64_t>(*bytes);
  if (length != expected) {
    fail(path, fmt::format("header says {} ({} bytes), the file has {}; {}", in_words(header), thousands(expected),
                           thousands(length), length < expected ? "it is cut short" : "it is too long"));
  }
  auto array = torch::empty(header.sizes, header.type->type);
  if (*bytes > 0 && !file.read(static_cast<char*>(array.data_ptr()), *bytes)) fail(path, "cannot read all of it");
  return array;
}

void write_npy(const std::filesystem::path& path, const torch::Tensor& array) {
  const auto* type = std::find_if(kNumberTypes.begin(), kNumberTypes.end(),
                                  [&](const NumberType& each) { return each.type == array.scalar_type(); });
  if (type == kNumberTypes.end()) {
    fail(path, fmt::format("NPY has no elements of type {}", torch::toString(array.scalar_type())));
  }
  auto header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", type->description,
                            fmt::join(array.sizes(), ", "), array.dim() == 1 ? "," : "");
  const auto before = kMagic.size() + 4;
  header.append(kAlignment - 1 - (before + header.size()) % kAlignment, ' ');
  header += '\n';
  const std::string start = std::string(kMagic) + '\x01' + '\x00' + static_cast<char>(header.size() & 255) +
                            static_cast<char>(header.size() >> 8);
  const auto bytes = array.cpu().contiguous();
  const std::string_view pieces[] = {
      start, header, {static_cast<const char*>(bytes.const_data_ptr()), static_cast<std::size_t>(bytes.nbytes())}};
  write_file_atomically(path, pieces);
}

}  // namespace anesi
