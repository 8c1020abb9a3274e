#include <numeric>

#include "anesi/io/idx_header.h"
#include "fuzz/target.h"

namespace anesi::fuzz {

ANESI_FUZZ_TARGET("idx", [](std::string_view input) {
  const auto array = parse_idx_array(input, "images");
  const auto elements = std::accumulate(array.sizes.begin(), array.sizes.end(), std::int64_t{1}, std::multiplies<>());
  expect(static_cast<std::size_t>(elements) == array.bytes.size(), "an array has a byte for each element");
  expect(array.bytes.empty() || array.bytes.data() + array.bytes.size() == input.data() + input.size(),
         "an array ends with its file");
});

}  // namespace anesi::fuzz
