// Changes to files whose header has its length before it: most keep the length true, since a reader believes nothing
// behind one that is not.
//
// ANESI_FUZZ_LENGTH_AT says where the length stands, ANESI_FUZZ_LENGTH_BYTES in how many bytes, little end first.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

constexpr std::size_t kLengthAt = ANESI_FUZZ_LENGTH_AT, kLengthBytes = ANESI_FUZZ_LENGTH_BYTES,
                      kHeaderAt = kLengthAt + kLengthBytes;

std::size_t length_of_header(const std::uint8_t* data, std::size_t size) {
  std::uint64_t length = 0;
  std::memcpy(&length, data + kLengthAt, kLengthBytes);
  return static_cast<std::size_t>(std::min<std::uint64_t>(length, size - kHeaderAt));
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  std::minstd_rand random(seed);
  const auto choice = random() % 8;
  if (size < kHeaderAt || max_size <= kHeaderAt || choice == 0) return LLVMFuzzerMutate(data, size, max_size);
  const auto header = length_of_header(data, size);
  std::vector<std::uint8_t> part(max_size - kHeaderAt), rest;
  const auto* const begin = data + kHeaderAt;
  const bool changes_header = choice < 6;
  const auto* const from = changes_header ? begin : begin + header;
  const auto old_length = changes_header ? header : size - kHeaderAt - header;
  const auto room = part.size() - (size - kHeaderAt - old_length);
  std::copy(from, from + old_length, part.begin());
  const auto new_length = LLVMFuzzerMutate(part.data(), old_length, std::max<std::size_t>(room, 1));
  part.resize(std::min(new_length, room));
  if (changes_header) {
    rest.assign(begin + header, begin + (size - kHeaderAt));
    std::copy(part.begin(), part.end(), data + kHeaderAt);
    std::copy(rest.begin(), rest.end(), data + kHeaderAt + part.size());
    const std::uint64_t length = part.size();
    std::memcpy(data + kLengthAt, &length, kLengthBytes);
    return kHeaderAt + part.size() + rest.size();
  }
  std::copy(part.begin(), part.end(), data + kHeaderAt + header);
  return kHeaderAt + header + part.size();
}
