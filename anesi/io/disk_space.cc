#include "anesi/io/disk_space.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <cerrno>

#include "anesi/io/thousands.h"

namespace anesi {

std::string missing_space(const std::filesystem::path& directory, std::uint64_t bytes, int failure) {
  if (failure == EDQUOT) return fmt::format("; it takes {} bytes", thousands(bytes));
  struct statvfs disk {};
  if (failure != ENOSPC || ::statvfs(directory.c_str(), &disk) != 0) return "";
  if (disk.f_files > 0 && disk.f_favail == 0) return "; this disk holds as many files as it can: remove some";
  const std::uint64_t free = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  if (free >= bytes) return fmt::format("; it takes {} bytes, {} are free by now", thousands(bytes), thousands(free));
  return fmt::format("; it takes {} bytes, {} are free: {} are missing", thousands(bytes), thousands(free),
                     thousands(bytes - free));
}

}  // namespace anesi
