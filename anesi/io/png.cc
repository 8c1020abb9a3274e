#include "anesi/io/png.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "anesi/core/error.h"

namespace anesi {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xffU);
  return bytes;
}

// CRC-32 of ISO 3309, bit by bit: pictures here are small.
std::uint32_t cyclic_redundancy(std::string_view bytes) {
  std::uint32_t remainder = 0xffffffffU;
  for (const char byte : bytes) {
    remainder ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1U ^ ((remainder & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~remainder;
}

std::uint32_t adler(std::string_view bytes) {
  constexpr std::uint32_t kPrime = 65521;
  std::uint32_t low = 1, high = 0;
  for (const char byte : bytes) {
    low = (low + static_cast<unsigned char>(byte)) % kPrime;
    high = (high + low) % kPrime;
  }
  return high << 16U | low;
}

// A zlib stream (RFC 1950) whose blocks are stored as they are.
std::string stored(std::string_view bytes) {
  constexpr std::size_t kLongestBlock = 65535;
  std::string stream("\x78\x01");
  const auto end = adler(bytes);
  do {
    const auto block = bytes.substr(0, kLongestBlock);
    bytes.remove_prefix(block.size());
    const auto length = static_cast<std::uint16_t>(block.size()), complement = static_cast<std::uint16_t>(~length);
    stream += bytes.empty() ? '\x01' : '\x00';
    for (const auto number : {length, complement}) {
      stream += static_cast<char>(number & 0xffU);
      stream += static_cast<char>(number >> 8U);
    }
    stream += block;
  } while (!bytes.empty());
  return stream + big_endian(end);
}

std::string chunk(const std::string& type, const std::string& contents) {
  const auto checked = type + contents;
  return big_endian(static_cast<std::uint32_t>(contents.size())) + checked + big_endian(cyclic_redundancy(checked));
}

}  // namespace

std::string png_of(const Array& image) {
  const bool coloured = image.dimensions() == 3 && image.shape()[2] == 3;
  if (image.type() != NumberType::kUInt8 || !(image.dimensions() == 2 || coloured)) {
    throw Error("a picture is uint8 [height, width] or [height, width, 3]");
  }
  const auto height = image.shape()[0], width = image.shape()[1];
  const auto row_bytes = static_cast<std::size_t>(width) * (coloured ? 3 : 1);
  std::string rows;
  for (std::int64_t row = 0; row < height; ++row) {
    rows += '\x00';  // no filter
    rows.append(static_cast<const char*>(image.data()) + static_cast<std::size_t>(row) * row_bytes, row_bytes);
  }
  const auto header = big_endian(static_cast<std::uint32_t>(width)) + big_endian(static_cast<std::uint32_t>(height)) +
                      '\x08' + (coloured ? '\x02' : '\x00') + std::string(3, '\x00');
  return std::string("\x89PNG\r\n\x1a\n", 8) + chunk("IHDR", header) + chunk("IDAT", stored(rows)) + chunk("IEND", "");
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto left = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t place = 0; place < 3; ++place) {
      group = group << 8U | (place < left ? static_cast<unsigned char>(bytes[at + place]) : 0U);
    }
    for (std::size_t place = 0; place < 4; ++place) {
      text += place <= left ? kDigits[group >> (18U - 6U * static_cast<unsigned>(place)) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace anesi
