// What libFuzzer calls.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using anesi::fuzz::Target;
  static const Target target = *std::find_if(anesi::fuzz::targets().begin(), anesi::fuzz::targets().end(),
                                             [](const Target& each) { return each.name == ANESI_FUZZ_TARGET_NAME; });
  // A copy of exactly this size, so that the address sanitizer sees what is read behind it.
  const std::vector<char> input(data, data + size);
  anesi::fuzz::refuses(target, {input.data(), input.size()});
  return 0;
}
