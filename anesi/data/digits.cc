#include "anesi/data/digits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/data/procedural_digits.h"
#include "anesi/io/files.h"
#include "anesi/io/idx.h"
#include "anesi/io/sha256.h"
#include "anesi/io/thousands.h"

namespace anesi {
namespace {

namespace fs = std::filesystem;

struct KnownFile {
  const char* name;
  const char* sha256;
};

constexpr std::array<KnownFile, 4> kMnist = {
    {{"train-images-idx3-ubyte", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
     {"train-labels-idx1-ubyte", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
     {"t10k-images-idx3-ubyte", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
     {"t10k-labels-idx1-ubyte", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}}};

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

// ---- A directory with the four files ----

Array read_present_idx(const fs::path& path) {
  if (!fs::exists(path)) {
    throw Error(fmt::format("{}: missing; the data directory must hold {}, {}, {} and {}, unpacked", path.string(),
                            kMnist[0].name, kMnist[1].name, kMnist[2].name, kMnist[3].name));
  }
  return read_idx(path);
}

void check_images(const fs::path& path, const Array& images) {
  if (images.dimensions() != 3) throw Error(fmt::format("{}: holds labels; it should hold images", path.string()));
  const auto& shape = images.shape();
  if (shape[0] == 0) throw Error(fmt::format("{}: holds no images", path.string()));
  if (shape[1] != 28 || shape[2] != 28) {
    throw Error(fmt::format("{}: images of {}x{}; digits are 28x28", path.string(), shape[1], shape[2]));
  }
}

void check_labels(const fs::path& path, const Array& labels, std::int64_t images) {
  if (labels.dimensions() != 1) throw Error(fmt::format("{}: holds images; it should hold labels", path.string()));
  if (labels.count() != images) {
    throw Error(fmt::format(
        "{}: {} labels for {} images; {}", path.string(), thousands(static_cast<std::uint64_t>(labels.count())),
        thousands(static_cast<std::uint64_t>(images)),
        labels.count() < images ? "the file is cut short" : "the two files do not belong together"));
  }
  const auto values = labels.values<std::uint8_t>();
  const auto wrong = std::ranges::find_if(values, [](std::uint8_t label) { return label > 9; });
  if (wrong != values.end()) {
    throw Error(fmt::format("{}: label {} at position {}; digits are 0 to 9", path.string(), *wrong,
                            thousands(static_cast<std::uint64_t>(wrong - values.begin()))));
  }
}

DigitImages load_pair(const fs::path& images_path, const fs::path& labels_path) {
  auto images = read_present_idx(images_path);
  check_images(images_path, images);
  const auto labels = read_present_idx(labels_path);
  check_labels(labels_path, labels, images.shape()[0]);
  const auto values = labels.values<std::uint8_t>();
  return {std::move(images), {values.begin(), values.end()}};
}

DigitSets load_directory(const fs::path& directory) {
  if (!fs::is_directory(directory)) {
    throw Error(fmt::format("{}: no such directory; it should hold the four files of MNIST", directory.string()));
  }
  return {.train = load_pair(directory / kMnist[0].name, directory / kMnist[1].name),
          .test = load_pair(directory / kMnist[2].name, directory / kMnist[3].name),
          .origin = fmt::format("MNIST from {}", directory.string()),
          .procedural = false};
}

// ---- The cache ----

std::optional<fs::path> cache_directory() {
  if (const auto own = environment("ANESI_CACHE")) return fs::absolute(*own);
  if (const auto common = environment("XDG_CACHE_HOME"); common && fs::path(*common).is_absolute()) {
    return fs::path(*common) / "anesi";
  }
  if (const auto home = environment("HOME")) return fs::path(*home) / ".cache" / "anesi";
  return std::nullopt;
}

void check_is_mnist(const fs::path& directory) {
  for (const KnownFile& file : kMnist) {
    if (sha256_of_file(directory / file.name) != file.sha256) {
      throw Error(fmt::format("{}: is not the file of MNIST: its SHA-256 differs", (directory / file.name).string()));
    }
  }
}

std::optional<DigitSets> load_cached(const fs::path& directory, const Say& say) {
  if (!fs::exists(directory)) return std::nullopt;
  try {
    check_is_mnist(directory);
    return load_directory(directory);
  } catch (const Error& error) {
    say(fmt::format("the cached MNIST is damaged: {}", error.what()));
    return std::nullopt;
  }
}

// ---- Fetching ----

// Whoever holds the lock of the cache is the only one to fetch, so what another left behind can be thrown away.
std::optional<DigitSets> fetch(const fs::path& cache, const std::vector<MnistSource>& sources, const Say& say) {
  fs::create_directories(cache);
  const DirectoryLock lock(cache, DirectoryLock::WhenHeld::wait);
  const fs::path target = cache / "mnist";
  if (auto fetched_meanwhile = load_cached(target, say)) return fetched_meanwhile;

  const fs::path scratch = cache / "fetching";
  for (const MnistSource& source : sources) {
    say(fmt::format("fetching MNIST from {} to {}", source.name, target.string()));
    fs::remove_all(scratch);
    fs::create_directories(scratch);
    try {
      const fs::path fetched = source.fetch(scratch);
      check_is_mnist(fetched);
      replace_directory(fetched, target);
      fs::remove_all(scratch);
      return load_directory(target);
    } catch (const Error& error) {
      say(fmt::format("could not fetch MNIST from {}: {}", source.name, error.what()));
    }
  }
  fs::remove_all(scratch);
  return std::nullopt;
}

// A cache that cannot be written is no reason to stop; it is said, and the next way is tried.
std::optional<DigitSets> load_cached_or_fetch(const std::vector<MnistSource>& sources, const Say& say) {
  const std::optional<fs::path> cache = cache_directory();
  if (!cache) {
    say("there is no place for a cache; set ANESI_CACHE or HOME");
    return std::nullopt;
  }
  try {
    if (auto cached = load_cached(*cache / "mnist", say)) return cached;
    if (!sources.empty()) return fetch(*cache, sources, say);
  } catch (const Error& error) {
    say(fmt::format("the cache cannot be used: {}", error.what()));
  } catch (const fs::filesystem_error& error) {
    say(fmt::format("{}: the cache cannot be used: {}", cache->string(), error.code().message()));
  }
  return std::nullopt;
}

// ---- Drawn digits ----

// As many as MNIST has.
DigitSets procedural_sets(const std::string& why) {
  return {.train = render_digits(60'000, 1),
          .test = render_digits(10'000, 2),
          .origin = fmt::format("procedural digits ({})", why),
          .procedural = true};
}

}  // namespace

std::vector<std::string> mnist_files() {
  std::vector<std::string> names;
  for (const KnownFile& file : kMnist) names.emplace_back(file.name);
  return names;
}

DigitSets load_digits(const std::optional<fs::path>& directory, const Say& given_say,
                      const std::vector<MnistSource>& sources) {
  const Say say = given_say ? given_say : [](const std::string&) {};
  if (directory) return load_directory(*directory);
  if (const auto wanted = environment("ANESI_DIGITS")) {
    if (*wanted != "procedural") {
      throw UsageError(fmt::format("ANESI_DIGITS={}: the only value is \"procedural\"; unset it for MNIST", *wanted));
    }
    return procedural_sets("ANESI_DIGITS asks for them");
  }
  if (const auto named = environment("ANESI_DATA")) return load_directory(*named);

  const bool offline = environment("ANESI_OFFLINE").value_or("0") != "0";
  if (auto mnist = load_cached_or_fetch(offline ? std::vector<MnistSource>() : sources, say)) return *std::move(mnist);
  const std::string why = offline           ? "MNIST was not found, and ANESI_OFFLINE keeps it from being fetched"
                          : sources.empty() ? "MNIST was not found"
                                            : "MNIST was not found and could not be fetched";
  say(fmt::format("using procedural digits: {}; --data names a directory that has it", why));
  return procedural_sets(why);
}

}  // namespace anesi
