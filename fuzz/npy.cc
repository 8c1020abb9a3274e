#include <algorithm>
#include <numeric>

#include "anesi/io/npy_header.h"
#include "fuzz/target.h"

namespace anesi::fuzz {

ANESI_FUZZ_TARGET("npy", [](std::string_view input) {
  const auto beginning = input.substr(0, kLongestNpyHeader);
  const auto header = parse_npy_header(beginning, input.size(), "array.npy");
  const auto bytes =
      std::accumulate(header.sizes.begin(), header.sizes.end(), facts_of(header.type->type).bytes, std::multiplies<>());
  expect(header.begin + static_cast<std::uint64_t>(bytes) == input.size(), "an array ends with its file");
  expect(std::all_of(header.sizes.begin(), header.sizes.end(), [](std::int64_t size) { return size >= 0; }),
         "no size is negative");
});

}  // namespace anesi::fuzz
