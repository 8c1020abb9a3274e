#include <numeric>

#include "anesi/io/input_file.h"
#include "anesi/io/safetensors_header.h"
#include "fuzz/target.h"

namespace anesi::fuzz {

ANESI_FUZZ_TARGET("safetensors", [](std::string_view input) {
  const auto length = safetensors_header_length(input.substr(0, kSafetensorsLengthBytes), input.size(), "weights");
  expect(length <= kLargestJson && kSafetensorsLengthBytes + length <= input.size(), "the header is in the file");
  const auto data = input.substr(kSafetensorsLengthBytes + length);
  const auto header =
      parse_safetensors_header(input.substr(kSafetensorsLengthBytes, length), data.size(), "weights.safetensors");
  std::uint64_t covered = 0;
  for (const auto& tensor : header.tensors) {
    const auto bytes =
        std::accumulate(tensor.shape.begin(), tensor.shape.end(), facts_of(tensor.type).bytes, std::multiplies<>());
    expect(tensor.begin == covered, "tensors lie behind one another");
    expect(tensor.begin + static_cast<std::uint64_t>(bytes) == tensor.end, "a tensor has the bytes of its shape");
    covered = tensor.end;
  }
  expect(covered == data.size(), "tensors cover the data");
});

}  // namespace anesi::fuzz
