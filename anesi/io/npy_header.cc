#include "anesi/io/npy_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "anesi/core/printable.h"
#include "anesi/io/fail.h"
#include "anesi/io/thousands.h"

namespace anesi {
namespace {

constexpr std::uint32_t kLongestDescription = kLongestNpyHeader - 12;
constexpr std::size_t kMostNpyDimensions = 64;  // as many as NumPy takes

// Reads the description, a Python dictionary with three entries: {'descr': '|u1', 'fortran_order': False, 'shape': (5,
// 2), }.
class Description {
 public:
  Description(std::string_view text, const std::filesystem::path& path) : text_(text), path_(path) {}

  NpyHeader parse() {
    NpyHeader header;
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

  const NpyType* type() {
    if (take('[')) fail(path_, "elements of several fields; only plain numbers are read");
    const auto description = quoted();
    const auto* found = std::find_if(kNpyTypes.begin(), kNpyTypes.end(),
                                     [&](const NpyType& type) { return type.description == description; });
    if (found == kNpyTypes.end()) {
      std::string names;
      for (const auto& known : kNpyTypes) names.append(names.empty() ? "" : ", ").append(facts_of(known.type).name);
      fail(path_, fmt::format("elements of NumPy type {}; read are {}", printable_word(description), names));
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
      if (result.size() > kMostNpyDimensions) fail(path_, "an array of more than 64 dimensions");
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

std::string in_words(const NpyHeader& header) {
  return fmt::format("{} [{}]", facts_of(header.type->type).name, fmt::join(header.sizes, ", "));
}

// How many bytes the array takes; none where 64 bits do not hold the number. A size of zero hides no overflow of the
// others.
std::optional<std::int64_t> bytes_of(const NpyHeader& header) {
  auto bytes = facts_of(header.type->type).bytes;
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

NpyHeader parse_npy_header(std::string_view beginning, std::uint64_t length, const std::filesystem::path& path) {
  if (length == 0) fail(path, "the file is empty");
  std::uint64_t begin = 0;
  const auto take = [&](std::uint64_t count) {
    if (count > beginning.size() - begin) {
      fail(path, fmt::format("the file has {} bytes, less than its NPY header; it is cut short", thousands(length)));
    }
    begin += count;
    return beginning.substr(begin - count, count);
  };
  if (take(std::min<std::uint64_t>(length, kNpyMagic.size())) != kNpyMagic) {
    fail(path, "this is not an NPY file: it does not begin as one");
  }
  const auto version = static_cast<unsigned char>(take(2)[0]);
  if (version < 1 || version > 3) {
    fail(path, fmt::format("version {} of the NPY format; versions 1 to 3 are read", version));
  }
  const auto header_length = little_endian(take(version == 1 ? 2 : 4));
  if (header_length > kLongestDescription) {
    fail(path, fmt::format("a header of {} bytes; the file is damaged", thousands(header_length)));
  }
  auto header = Description(take(header_length), path).parse();
  header.begin = begin;
  const auto bytes = bytes_of(header);
  if (!bytes) fail(path, fmt::format("header says {}, more than any file holds; it is damaged", in_words(header)));
  const auto expected = begin + static_cast<std::uint64_t>(*bytes);
  if (length != expected) {
    fail(path, fmt::format("header says {} ({} bytes), the file has {}; {}", in_words(header), thousands(expected),
                           thousands(length), length < expected ? "it is cut short" : "it is too long"));
  }
  return header;
}

}  // namespace anesi
