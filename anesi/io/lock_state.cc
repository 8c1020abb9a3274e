#include "anesi/io/lock_state.h"

#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <string>

namespace anesi {

bool is_locked(const std::filesystem::path& directory) {
  struct stat lock {};
  if (::stat((directory / "lock").c_str(), &lock) != 0) return false;
  std::ifstream locks("/proc/locks");
  // "1: FLOCK  ADVISORY  WRITE 4711 fd:01:131 0 EOF"; devices of some file systems are not those that stat() tells
  const auto inode = std::to_string(lock.st_ino);
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, process, place;
    words >> number >> kind >> mode >> access >> process >> place;
    if (kind == "FLOCK" && access == "WRITE" && place.substr(place.rfind(':') + 1) == inode) return true;
  }
  return false;
}

}  // namespace anesi
