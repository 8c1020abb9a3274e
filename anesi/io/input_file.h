// Files that somebody gave us, for reading.
//
// Every file that anesi reads is opened here, whoever made it. Only regular files are: a FIFO would let us wait for
// ever, and a device may never end. A file that is larger than its kind has any use for, or than the memory of this
// machine, is refused before a byte is read: "rules.cnf: 100,000,000 bytes; files of at most 67,108,864 are read". What
// is appended while we read is not read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace anesi {

// The largest files of each kind, in bytes.
constexpr std::uint64_t kLargestSettings = std::uint64_t{1} << 20;  // config.toml
constexpr std::uint64_t kLargestJson = std::uint64_t{1} << 24;      // manifests, results, headers of safetensors
constexpr std::uint64_t kLargestText = std::uint64_t{1} << 26;      // formulas, circuits, tables
constexpr std::uint64_t kLargestPuzzles = std::uint64_t{1} << 32;   // pixels as text
constexpr std::uint64_t kLargestArrays = std::uint64_t{1} << 36;    // IDX, NPY, safetensors, modules

class InputFile {
 public:
  // Throws Error where there is no such file, it is no regular file, or it has more bytes than the limit.
  InputFile(const std::filesystem::path& path, std::uint64_t limit);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  // So many bytes from this position on. Throws Error where the file has fewer, or shrank since it was opened. May be
  // called from several threads at once.
  void read(std::uint64_t position, char* bytes, std::uint64_t count) const;
  std::string take(std::uint64_t position, std::uint64_t count) const;

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

// All of a file. Throws Error as above.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit);

}  // namespace anesi
