#include "anesi/models/architecture.h"

namespace anesi {

std::map<std::string, ArchitectureEntry>& architectures() {
  static std::map<std::string, ArchitectureEntry> all;
  return all;
}

}  // namespace anesi
