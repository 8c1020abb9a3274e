// Changes to IDX files, half of which make the first size true again: without that nearly all are refused at once.
#include <cstddef>
#include <cstdint>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  size = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 2 == 0 || size < 4) return size;
  const std::size_t header = 4 + 4 * std::size_t{data[3]};
  if (data[3] == 0 || size < header) return size;
  std::uint64_t of_one = 1;
  for (std::size_t at = 8; at < header; at += 4) of_one *= data[at + 3];  // small sizes alone
  const auto first = of_one == 0 ? 0 : (size - header) / of_one;
  for (std::size_t byte = 0; byte < 4; ++byte) data[4 + byte] = static_cast<std::uint8_t>(first >> (24 - 8 * byte));
  return of_one == 0 ? header : header + first * of_one;
}
