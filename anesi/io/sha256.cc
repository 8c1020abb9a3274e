#include "anesi/io/sha256.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "anesi/io/input_file.h"

namespace anesi {
namespace {

using State = std::array<std::uint32_t, 8>;

constexpr std::size_t kBlock = 64;  // bytes taken in at a time

constexpr std::array<std::uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian_word(const char* bytes) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) word = (word << 8) | static_cast<unsigned char>(bytes[i]);
  return word;
}

void take_in_block(State& state, const char* block) {
  std::array<std::uint32_t, 64> schedule;
  for (std::size_t i = 0; i < 16; ++i) schedule[i] = big_endian_word(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t x = schedule[i - 15];
    const std::uint32_t y = schedule[i - 2];
    const std::uint32_t sigma0 = std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3);
    const std::uint32_t sigma1 = std::rotr(y, 17) ^ std::rotr(y, 19) ^ (y >> 10);
    schedule[i] = schedule[i - 16] + sigma0 + schedule[i - 7] + sigma1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t choice = (e & f) ^ (~e & g);
    const std::uint32_t first = h + sum1 + choice + kRoundConstants[i] + schedule[i];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + sum0 + majority;
  }
  const State mixed = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
}

std::string hexadecimal(const State& state) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::uint32_t word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) text += digits[(word >> shift) & 15U];
  }
  return text;
}

// A message in pieces, of which all but the last are whole blocks.
class Digest {
 public:
  void take_in(std::string_view bytes) {
    bits_ += std::uint64_t{bytes.size()} * 8;
    for (; bytes.size() >= kBlock; bytes.remove_prefix(kBlock)) take_in_block(state_, bytes.data());
    ending_ = bytes;
  }

  // The message ends in a one bit, zeros, and its length in bits, so that it fills whole blocks.
  std::string finish() {
    ending_ += '\x80';
    while (ending_.size() % kBlock != kBlock - 8) ending_ += '\0';
    for (int shift = 56; shift >= 0; shift -= 8) ending_ += static_cast<char>((bits_ >> shift) & 255U);
    for (std::size_t start = 0; start < ending_.size(); start += kBlock) take_in_block(state_, ending_.data() + start);
    return hexadecimal(state_);
  }

 private:
  State state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::uint64_t bits_ = 0;
  std::string ending_;
};

}  // namespace

std::string sha256(std::string_view bytes) {
  Digest digest;
  digest.take_in(bytes);
  return digest.finish();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  constexpr std::uint64_t kAtOnce = kBlock << 14;
  const InputFile file(path, kLargestArrays);
  Digest digest;
  for (std::uint64_t at = 0; at < file.size(); at += kAtOnce) {
    digest.take_in(file.take(at, std::min(kAtOnce, file.size() - at)));
  }
  return digest.finish();
}

}  // namespace anesi
