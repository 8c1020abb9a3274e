// The installed headers compile, the installed library links and runs.
#include <cstdio>

#include "anesi/core/space.h"

int main() {
  const auto space = anesi::Space::uniform(2, 10);
  if (space.points() != 100) {
    std::fprintf(stderr, "two variables of ten values have %g points, not 100\n", space.points());
    return 1;
  }
}
