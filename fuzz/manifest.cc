#include "anesi/predict/manifest.h"
#include "fuzz/target.h"

namespace anesi::fuzz {

ANESI_FUZZ_TARGET("manifest", [](std::string_view input) {
  const auto manifest = parse_manifest(input, "manifest.json");
  expect(manifest.members >= 1 && manifest.members <= 1000, "an ensemble has some members");
});

}  // namespace anesi::fuzz
