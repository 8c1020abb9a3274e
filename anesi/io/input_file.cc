#include "anesi/io/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "anesi/io/fail.h"
#include "anesi/io/thousands.h"

namespace anesi {
namespace {

constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 30;  // the system reads no more than 2 GiB in one call

std::string reason() { return std::generic_category().message(errno); }

std::uint64_t memory_of_this_machine() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGE_SIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes) : UINT64_MAX;
}

}  // namespace

// Opening a FIFO waits for somebody who writes to it, unless told not to.
InputFile::InputFile(const std::filesystem::path& path, std::uint64_t limit)
    : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  if (descriptor_ < 0 && errno == ENXIO) fail(path, "cannot read: it is no regular file");  // a socket
  if (descriptor_ < 0) fail(path, "cannot read: " + reason());
  try {
    struct stat facts {};
    if (::fstat(descriptor_, &facts) != 0) fail(path, "cannot read: " + reason());
    if (!S_ISREG(facts.st_mode)) fail(path, "cannot read: it is no regular file");
    size_ = static_cast<std::uint64_t>(facts.st_size);
    if (const auto most = std::min(limit, memory_of_this_machine()); size_ > most) {
      fail(path, fmt::format("{} bytes; files of at most {} are read", thousands(size_), thousands(most)));
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(std::uint64_t position, char* bytes, std::uint64_t count) const {
  if (position > size_ || count > size_ - position) fail(path_, "cannot read all of it; the file is cut short");
  while (count > 0) {
    const auto length = ::pread(descriptor_, bytes, static_cast<std::size_t>(std::min(count, kMostAtOnce)),
                                static_cast<off_t>(position));
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) fail(path_, "cannot read: " + reason());
    if (length == 0) fail(path_, "cannot read all of it; the file is cut short");
    bytes += length;
    count -= static_cast<std::uint64_t>(length);
    position += static_cast<std::uint64_t>(length);
  }
}

std::string InputFile::take(std::uint64_t position, std::uint64_t count) const {
  if (position > size_ || count > size_ - position) fail(path_, "cannot read all of it; the file is cut short");
  std::string bytes(static_cast<std::size_t>(count), '\0');
  read(position, bytes.data(), count);
  return bytes;
}

std::string read_file(const std::filesystem::path& path, std::uint64_t limit) {
  const InputFile file(path, limit);
  return file.take(0, file.size());
}

}  // namespace anesi
