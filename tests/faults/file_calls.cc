// Calls on files, counted and made to fail; and a disk that is full after so many bytes.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "plan.h"

namespace {

using namespace faults;

std::atomic<long> calls{0}, taken{0};

template <typename Function>
Function next(const char* name, Function) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

// ---- Which files are watched ----

bool is_watched(const char* path) {
  const auto& under = plan().under;
  return !under.empty() && path != nullptr && std::string_view(path).substr(0, under.size()) == under;
}

struct Name {
  std::array<char, PATH_MAX> text{};

  explicit Name(int descriptor, const char* path = nullptr) {
    if (path != nullptr && (path[0] == '/' || descriptor == AT_FDCWD)) {
      std::snprintf(text.data(), text.size(), "%s", path);
      return;
    }
    std::array<char, 40> link{};
    std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", descriptor);
    const long length = ::readlink(link.data(), text.data(), text.size() - 1);
    const auto end = static_cast<std::size_t>(std::max(0L, length));
    text[end] = '\0';
    if (path != nullptr) std::snprintf(text.data() + end, text.size() - end, "/%s", path);
  }
  const char* get() const { return text.data(); }
};

// ---- What happens to a call ----

// Counts the call; true where it is to fail, with errno set.
bool fails(const char* call, const char* path) {
  if (!in_main || !is_watched(path)) return false;
  const long now = ++calls;
  std::array<char, PATH_MAX + 100> line{};
  const int length = std::snprintf(line.data(), line.size(), "%ld %s %s\n", now, call, path);
  tell(line.data(), std::min(length, static_cast<int>(line.size()) - 1));
  if (plan().call == 0 || (plan().lasting ? now < plan().call : now != plan().call)) return false;
  if (plan().error != 0) {
    errno = plan().error;
    return true;
  }
  ::kill(::getpid(), plan().signal);
  return false;
}

bool fails(const char* call, int descriptor) { return !plan().under.empty() && fails(call, Name(descriptor).get()); }

// The disk. What is removed or replaced gives its space back.
long size_of(const char* path) {
  struct stat facts {};
  return ::syscall(SYS_newfstatat, AT_FDCWD, path, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(facts.st_mode)
             ? static_cast<long>(facts.st_size)
             : 0;
}

bool is_new(const char* path) {
  struct stat facts {};
  return ::syscall(SYS_newfstatat, AT_FDCWD, path, &facts, AT_SYMLINK_NOFOLLOW) != 0;
}

long room() { return std::max(0L, plan().room - taken); }

void take(long bytes) {
  taken += bytes;
  if (taken > most_taken) most_taken = taken.load();
}

bool has_no_room_for_a_name(const char* path) {
  if (!in_main || plan().room < 0 || !is_watched(path) || room() > 0 || !is_new(path)) return false;
  errno = ENOSPC;
  return true;
}

long write_within_room(int descriptor, const void* bytes, std::size_t count, long offset) {
  if (in_main && !plan().under.empty() && is_watched(Name(descriptor).get())) {
    if (plan().room >= 0 && count > 0) {
      count = std::min(count, static_cast<std::size_t>(room()));
      if (count == 0) {
        errno = ENOSPC;
        return -1;
      }
    }
    take(static_cast<long>(count));
  }
  return offset < 0 ? ::syscall(SYS_write, descriptor, bytes, count)
                    : ::syscall(SYS_pwrite64, descriptor, bytes, count, offset);
}

int open_at(int directory, const char* path, int flags, mode_t mode) {
  const Name name(directory, path);
  const bool makes = (flags & O_CREAT) != 0;
  if (fails(makes || (flags & O_ACCMODE) != O_RDONLY ? "open" : "open-to-read", name.get())) return -1;
  if (makes && has_no_room_for_a_name(name.get())) return -1;
  return static_cast<int>(::syscall(SYS_openat, directory, path, flags, mode));
}

int rename_at(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) {
  const Name name(to_directory, to);
  if (fails("rename", name.get())) return -1;
  const long replaced = size_of(name.get());
  const auto result = static_cast<int>(::syscall(SYS_renameat2, from_directory, from, to_directory, to, flags));
  if (result == 0 && in_main && is_watched(name.get())) taken -= replaced;
  return result;
}

int unlink_at(int directory, const char* path, int flags) {
  const Name name(directory, path);
  if (fails("unlink", name.get())) return -1;
  const long removed = size_of(name.get());
  const auto result = static_cast<int>(::syscall(SYS_unlinkat, directory, path, flags));
  if (result == 0 && in_main && is_watched(name.get())) taken -= removed;
  return result;
}

std::FILE* open_stream(const char* path, const char* mode) {
  static const auto real = next("fopen", &std::fopen);
  if (fails(std::strpbrk(mode, "wa+") != nullptr ? "open" : "open-to-read", path)) return nullptr;
  if (mode[0] != 'r' && has_no_room_for_a_name(path)) return nullptr;
  return real(path, mode);
}

int tell_of_disk(const char* path, struct statvfs* facts) {
  static const auto real = next("statvfs", &::statvfs);
  const int result = real(path, facts);
  if (result == 0 && in_main && plan().room >= 0 && is_watched(path)) {
    facts->f_bsize = facts->f_frsize = 1;
    facts->f_bavail = facts->f_bfree = static_cast<fsblkcnt_t>(room());
  }
  return result;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) __attribute__((alias("open")));

int openat(int directory, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_at(directory, path, flags, mode);
}
int openat64(int directory, const char* path, int flags, ...) __attribute__((alias("openat")));

std::FILE* fopen(const char* path, const char* mode) { return open_stream(path, mode); }
std::FILE* fopen64(const char* path, const char* mode) { return open_stream(path, mode); }

ssize_t write(int descriptor, const void* bytes, size_t count) {
  return fails("write", descriptor) ? -1 : write_within_room(descriptor, bytes, count, -1);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off_t offset) {
  return fails("write", descriptor) ? -1 : write_within_room(descriptor, bytes, count, offset);
}
ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) __attribute__((alias("pwrite64")));

ssize_t writev(int descriptor, const iovec* pieces, int count) {
  if (fails("write", descriptor)) return -1;
  ssize_t done = 0;
  for (int piece = 0; piece < count; ++piece) {
    const ssize_t more = write_within_room(descriptor, pieces[piece].iov_base, pieces[piece].iov_len, -1);
    if (more < 0) return done > 0 ? done : -1;
    done += more;
    if (static_cast<std::size_t>(more) < pieces[piece].iov_len) break;
  }
  return done;
}

ssize_t read(int descriptor, void* bytes, size_t count) {
  return fails("read", descriptor) ? -1 : ::syscall(SYS_read, descriptor, bytes, count);
}

int close(int descriptor) {
  const bool failed = fails("close", descriptor);  // a descriptor is closed even then
  const int reason = errno;
  const auto result = static_cast<int>(::syscall(SYS_close, descriptor));
  if (!failed) return result;
  errno = reason;
  return -1;
}

int fsync(int descriptor) {
  return fails("fsync", descriptor) ? -1 : static_cast<int>(::syscall(SYS_fsync, descriptor));
}
int fdatasync(int descriptor) {
  return fails("fsync", descriptor) ? -1 : static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}
int flock(int descriptor, int operation) {
  return fails("flock", descriptor) ? -1 : static_cast<int>(::syscall(SYS_flock, descriptor, operation));
}
int ftruncate64(int descriptor, off_t length) {
  return fails("ftruncate", descriptor) ? -1 : static_cast<int>(::syscall(SYS_ftruncate, descriptor, length));
}
int ftruncate(int descriptor, off_t length) __attribute__((alias("ftruncate64")));

int rename(const char* from, const char* to) { return rename_at(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int from_directory, const char* from, int to_directory, const char* to) {
  return rename_at(from_directory, from, to_directory, to, 0);
}
int renameat2(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) {
  return rename_at(from_directory, from, to_directory, to, flags);
}

int mkdir(const char* path, mode_t mode) {
  if (fails("mkdir", path) || has_no_room_for_a_name(path)) return -1;
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int unlink(const char* path) { return unlink_at(AT_FDCWD, path, 0); }
int unlinkat(int directory, const char* path, int flags) { return unlink_at(directory, path, flags); }
int rmdir(const char* path) { return unlink_at(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char* path) {
  struct stat facts {};
  const bool found = ::syscall(SYS_newfstatat, AT_FDCWD, path, &facts, AT_SYMLINK_NOFOLLOW) == 0;
  return unlink_at(AT_FDCWD, path, found && S_ISDIR(facts.st_mode) ? AT_REMOVEDIR : 0);
}

int stat(const char* path, struct stat* facts) {
  return fails("stat", path) ? -1 : static_cast<int>(::syscall(SYS_newfstatat, AT_FDCWD, path, facts, 0));
}
int lstat(const char* path, struct stat* facts) {
  return fails("stat", path) ? -1
                             : static_cast<int>(::syscall(SYS_newfstatat, AT_FDCWD, path, facts, AT_SYMLINK_NOFOLLOW));
}

// What libraries call that were built against an older C library.
int __xstat(int /*version*/, const char* path, struct stat* facts) { return stat(path, facts); }
int __lxstat(int /*version*/, const char* path, struct stat* facts) { return lstat(path, facts); }

int statvfs(const char* path, struct statvfs* facts) { return tell_of_disk(path, facts); }
int statvfs64(const char* path, struct statvfs64* facts) {
  return tell_of_disk(path, reinterpret_cast<struct statvfs*>(facts));  // the same on machines of 64 bits
}

}  // extern "C"
