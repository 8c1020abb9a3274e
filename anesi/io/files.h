// Files that are whole or not there at all.
//
// A run may be killed at any moment, and a disk may be full. What was saved before must survive both. So a file is
// written beside its place under another name and renamed over it once it is on the disk, and a directory likewise
// changes places with its successor. Every failure is an Error of one line that names the path and the system's reason:
// "runs/a/log.csv: cannot write: Permission denied". On a full disk it says how much is missing (io/disk_space.h).
//
// All of this is for Linux and other POSIX systems, and may be called from several threads at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace anesi {

// In bytes; 0 where there is no file of this name.
std::uintmax_t length_of_file(const std::filesystem::path& path);

// After it returns, the contents are on the disk under this name; if it throws, what was there before still is. A link
// is followed; a device or a FIFO is refused. The
// pieces are written one after the other, so that a large file need not be put together in memory first.
void write_file_atomically(const std::filesystem::path& path, std::span<const std::string_view> pieces);
void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

// Adds text to the end of a file, which is made where it is not there. If it throws, the file is as it was, unless the
// disk fails at that too. Not synced: a log may lose its last lines to a power cut.
void append_to_file(const std::filesystem::path& path, std::string_view text);

// Makes the directory and those above it, where they are not there.
void make_directories(const std::filesystem::path& directory);

// Removes the files that writers which were killed left in this directory under other names. Only for a directory in
// which nobody else writes (DirectoryLock).
void remove_leftovers(const std::filesystem::path& directory);

// Only those that were to become this file, for a directory that may hold anything else.
void remove_leftovers_of(const std::filesystem::path& file);

// Puts the directory `fresh` in the place of `target`, which need not exist, and removes what was there. Both must be
// on one file system. Where the kernel can exchange two names (Linux), there is no moment without a complete target.
// Elsewhere the old one first becomes "target.old": killed between the two steps, it is found there.
void replace_directory(const std::filesystem::path& fresh, const std::filesystem::path& target);

// Keeps two processes from writing to one directory. The lock is an flock on the file `lock` in it, which holds the
// process id of its owner for people to read. The kernel lets go of it when the process ends, however it ends; the file
// stays behind and means nothing by itself.
class DirectoryLock {
 public:
  enum class WhenHeld { fail, wait };

  // The directory must exist. Throws Error "…: another run is writing here (process N)" if it is locked already, also
  // by this process; with WhenHeld::wait, blocks until it is free instead.
  explicit DirectoryLock(const std::filesystem::path& directory, WhenHeld when_held = WhenHeld::fail);
  ~DirectoryLock();
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) noexcept;
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_ = -1;
};

// A fresh directory for scratch files, removed with everything in it on destruction.
class TemporaryDirectory {
 public:
  // Inside the given directory, which must exist; by default where the system keeps temporary files.
  explicit TemporaryDirectory(const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace anesi
