#include "anesi/io/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <system_error>
#include <utility>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/io/disk_space.h"

namespace anesi {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_because(const fs::path& path, std::string_view what, int reason, const std::string& more = {}) {
  throw Error(fmt::format("{}: {}: {}{}", path.string(), what, std::generic_category().message(reason), more));
}

// An open file. close() reports what the system says; the destructor, on the way out of a failure, does not.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
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

// As many pieces in a call as the system takes; a disk that fills up may take a part of one.
bool write_all(int descriptor, std::span<const std::string_view> pieces) {
  constexpr std::size_t kMostPieces = 1024;
  std::size_t first = 0, done = 0;  // the piece that comes next, and how much of it is written
  std::vector<iovec> parts;
  while (true) {
    parts.clear();
    for (std::size_t piece = first; piece < pieces.size() && parts.size() < kMostPieces; ++piece) {
      const std::string_view rest = piece == first ? pieces[piece].substr(done) : pieces[piece];
      parts.push_back({const_cast<char*>(rest.data()), rest.size()});
    }
    if (parts.empty()) return true;
    const ssize_t written = ::writev(descriptor, parts.data(), static_cast<int>(parts.size()));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    for (done += static_cast<std::size_t>(written); first < pieces.size() && done >= pieces[first].size(); ++first) {
      done -= pieces[first].size();
    }
  }
}

std::uint64_t bytes_in(std::span<const std::string_view> pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), std::uint64_t{0},
                         [](std::uint64_t sum, std::string_view piece) { return sum + piece.size(); });
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

bool is_name_beside(const std::string& name) {
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  const auto dot = name.rfind('.'), line = name.rfind('-');
  return name.starts_with('.') && dot > 1 && dot < line && line != std::string::npos &&
         is_number(std::string_view(name).substr(dot + 1, line - dot - 1)) &&
         is_number(std::string_view(name).substr(line + 1));
}

void remove_names_beside(const fs::path& directory, std::string_view beginning) {
  std::error_code failure;
  for (fs::directory_iterator entry(directory, failure), end; !failure && entry != end; entry.increment(failure)) {
    const auto name = entry->path().filename().string();
    std::error_code ignored;  // it takes space and is no danger
    if (name.starts_with(beginning) && is_name_beside(name)) fs::remove(entry->path(), ignored);
  }
}

[[noreturn]] void fail_to_write(const fs::path& path, int reason, std::uint64_t bytes) {
  fail_because(path, "cannot write", reason, missing_space(parent_of(path), bytes, reason));
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

// Where a file of this name is, or would be: a link is followed. What is neither a file nor nothing (a device, a FIFO)
// is not replaced by one.
fs::path place_of(const fs::path& path) {
  std::error_code unknown;  // then writing says why
  const auto found = fs::symlink_status(path, unknown).type();
  const auto place = found == fs::file_type::symlink ? fs::weakly_canonical(path, unknown) : path;
  const auto behind = fs::status(place, unknown).type();
  if (behind == fs::file_type::block || behind == fs::file_type::character || behind == fs::file_type::fifo ||
      behind == fs::file_type::socket) {
    throw Error(fmt::format("{}: cannot write: it is no regular file", path.string()));
  }
  return place.empty() ? path : place;
}

std::string owner_of_lock(int descriptor) {
  std::array<char, 32> text{};
  const ssize_t length = ::pread(descriptor, text.data(), text.size(), 0);
  const std::string_view seen(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::string_view digits = seen.substr(0, seen.find_first_not_of("0123456789"));
  return digits.empty() ? "unknown" : std::string(digits);
}

}  // namespace

std::uintmax_t length_of_file(const fs::path& path) {
  std::error_code failure;
  const auto length = fs::file_size(path, failure);
  if (failure == std::errc::no_such_file_or_directory) return 0;
  if (failure) fail_because(path, "cannot read", failure.value());
  return length;
}

void write_file_atomically(const fs::path& path, std::span<const std::string_view> pieces) {
  if (path.native().find('\0') != std::string::npos) throw Error("cannot write: the file's name has a zero in it");
  const auto place = place_of(path);
  fs::path temporary = name_beside(place);
  const auto open = [&] { return ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); };
  int opened = open();
  while (opened < 0 && errno == EEXIST) {  // a process of this number was killed here before
    temporary = name_beside(place);
    opened = open();
  }
  Descriptor file(opened);
  if (!file.is_open()) fail_to_write(place, errno, bytes_in(pieces));

  if (!write_all(file.value(), pieces) || ::fsync(file.value()) != 0 || !file.close() ||
      ::rename(temporary.c_str(), place.c_str()) != 0) {
    const int reason = errno;
    if (file.is_open()) file.close();  // only then does its space become free
    ::unlink(temporary.c_str());
    fail_to_write(place, reason, bytes_in(pieces));
  }
  sync_directory(parent_of(place));
}

void write_file_atomically(const fs::path& path, std::string_view contents) {
  write_file_atomically(path, std::span(&contents, 1));
}

void append_to_file(const fs::path& path, std::string_view text) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (!file.is_open()) fail_to_write(path, errno, text.size());
  struct stat before {};
  if (::fstat(file.value(), &before) != 0) fail_because(path, "cannot write", errno);
  if (!write_all(file.value(), std::span(&text, 1))) {
    const int reason = errno;
    // Half a line would be worse than none. Where even this fails, the first reason is the one to tell.
    if (::ftruncate(file.value(), before.st_size) != 0) fail_because(path, "cannot write all of a line", reason);
    fail_to_write(path, reason, text.size());
  }
}

void make_directories(const fs::path& directory) {
  std::error_code failure;
  fs::create_directories(directory, failure);
  if (!failure) return;
  constexpr std::uint64_t kBlock = 4096;  // what a directory takes on most disks
  auto there = parent_of(without_trailing_slash(directory));
  for (std::error_code ignored; !fs::is_directory(there, ignored) && there != parent_of(there);)
    there = parent_of(there);
  fail_because(directory, "cannot make the directory", failure.value(), missing_space(there, kBlock, failure.value()));
}

void remove_leftovers(const fs::path& directory) { remove_names_beside(directory, "."); }

void remove_leftovers_of(const fs::path& file) {
  remove_names_beside(parent_of(file), fmt::format(".{}.", file.filename().string()));
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
  const std::string_view text = owner;
  if (::ftruncate(file.value(), 0) != 0 || !write_all(file.value(), std::span(&text, 1))) {
    fail_to_write(path, errno, text.size());
  }
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
