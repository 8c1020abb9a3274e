#include "anesi/io/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "anesi/core/error.h"

namespace anesi {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_because(const fs::path& path, std::string_view what, int reason) {
  throw Error(fmt::format("{}: {}: {}", path.string(), what, std::generic_category().message(reason)));
}

// An open file. close() reports what the system says; the destructor, on the way out of a failure, does not.
class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags, mode_t mode = 0)
      : value_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_open() const { return value_ >= 0; }
  int value() const { return value_; }
  bool close() { return ::close(std::exchange(value_, -1)) == 0; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// A rename is on the disk only once its directory is. Some file systems cannot sync a directory and say EINVAL.
void sync_directory(const fs::path& directory) {
  const Descriptor descriptor(directory, O_RDONLY | O_DIRECTORY);
  if (!descriptor.is_open() || (::fsync(descriptor.value()) != 0 && errno != EINVAL)) {
    fail_because(directory, "cannot sync this directory to the disk", errno);
  }
}

fs::path parent_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

// "a/b/" and "a/b" name the same directory, but only the second has b as its last part.
fs::path without_trailing_slash(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

// A name beside the path that no other thread or process uses at the moment.
fs::path name_beside(const fs::path& path) {
  static std::atomic<unsigned> count{0};
  return parent_of(path) / fmt::format(".{}.{}-{}", path.filename().string(), ::getpid(), count++);
}

void remove_replaced(const fs::path& old, const fs::path& target) {
  std::error_code reason;
  fs::remove_all(old, reason);
  if (reason) {
    throw Error(fmt::format("{}: is replaced, but what it replaced cannot be removed from {}: {}", target.string(),
                            old.string(), reason.message()));
  }
}

bool exchange(const fs::path& first, const fs::path& second) {
#ifdef RENAME_EXCHANGE
  return ::renameat2(AT_FDCWD, first.c_str(), AT_FDCWD, second.c_str(), RENAME_EXCHANGE) == 0;
#else
  static_cast<void>(first), static_cast<void>(second);
  errno = ENOSYS;
  return false;
#endif
}

std::string owner_of_lock(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t length = ::pread(descriptor, text.data(), text.size(), 0);
  const std::string_view seen(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::string_view digits = seen.substr(0, seen.find_first_not_of("0123456789"));
  return digits.empty() ? "unknown" : std::string(digits);
}

}  // namespace

void write_file_atomically(const fs::path& path, std::span<const std::string_view> pieces) {
  const fs::path temporary = name_beside(path);
  Descriptor file(temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (!file.is_open()) fail_because(path, "cannot write", errno);

  bool written = true;
  for (const std::string_view piece : pieces) written = written && write_all(file.value(), piece);
  written = written && ::fsync(file.value()) == 0 && file.close() && ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    fail_because(path, "cannot write", reason);
  }
  sync_directory(parent_of(path));
}

void write_file_atomically(const fs::path& path, std::string_view contents) {
  write_file_atomically(path, std::span(&contents, 1));
}

void replace_directory(const fs::path& fresh_path, const fs::path& target_path) {
  const fs::path fresh = without_trailing_slash(fresh_path);
  const fs::path target = without_trailing_slash(target_path);
  std::error_code ignored;
  if (!fs::is_directory(fresh, ignored)) {
    throw Error(fmt::format("{}: cannot take the place of {}: it is not a directory", fresh.string(), target.string()));
  }
  const fs::file_status there = fs::status(target, ignored);
  if (fs::exists(there) && !fs::is_directory(there)) {
    throw Error(fmt::format("{}: cannot replace: it is not a directory; move it away", target.string()));
  }
  sync_directory(fresh);

  // A rename onto a directory with something in it fails and changes nothing.
  if (::rename(fresh.c_str(), target.c_str()) == 0) return sync_directory(parent_of(target));
  if (errno != ENOTEMPTY && errno != EEXIST) fail_because(target, "cannot replace", errno);

  if (exchange(fresh, target)) {
    sync_directory(parent_of(target));
    return remove_replaced(fresh, target);
  }
  if (errno != EINVAL && errno != ENOSYS) fail_because(target, "cannot replace", errno);

  fs::path old = target;
  old += ".old";
  fs::remove_all(old, ignored);
  if (::rename(target.c_str(), old.c_str()) != 0) fail_because(target, "cannot replace", errno);
  if (::rename(fresh.c_str(), target.c_str()) != 0) {
    const int reason = errno;
    if (::rename(old.c_str(), target.c_str()) != 0) {
      fail_because(target, fmt::format("cannot replace, and what was there is now {}", old.string()), reason);
    }
    fail_because(target, "cannot replace", reason);
  }
  sync_directory(parent_of(target));
  remove_replaced(old, target);
}

DirectoryLock::DirectoryLock(const fs::path& directory, WhenHeld when_held) {
  const fs::path path = directory / "lock";
  Descriptor file(path, O_RDWR | O_CREAT, 0666);
  if (!file.is_open()) fail_because(path, "cannot lock this directory", errno);
  const int operation = when_held == WhenHeld::wait ? LOCK_EX : LOCK_EX | LOCK_NB;
  while (::flock(file.value(), operation) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) fail_because(path, "cannot lock this directory", errno);
    throw Error(fmt::format("{}: another run is writing here (process {}); wait for it or choose another directory",
                            directory.string(), owner_of_lock(file.value())));
  }
  const std::string owner = fmt::format("{}\n", ::getpid());
  if (::ftruncate(file.value(), 0) != 0 || !write_all(file.value(), owner)) fail_because(path, "cannot write", errno);
  descriptor_ = file.release();
}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  DirectoryLock released(std::move(other));
  return *this;
}

TemporaryDirectory::TemporaryDirectory(const fs::path& parent) {
  std::string name = (parent / "anesi-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) fail_because(parent, "cannot make a temporary directory here", errno);
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace anesi
