#include "anesi/testing/task_conformance.h"

#include <map>

#include "anesi/testing/environment.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

// Every task that is registered, with few data.
TEST(Tasks, Conform) {
  const toys::Environment digits("ANESI_DIGITS", "procedural");
  const std::map<std::string, std::vector<std::string>> settings{
      {"cnf", {"task.examples=50"}},
      {"grid-path", {"task.side=3"}},
      {"light-curtain", {"task.examples=50"}},
      {"visual-sudoku", {"task.puzzles=5"}},
      {"warcraft", {"task.size=4", "task.maps=20", "task.tests=10", "task.window=3"}},
  };
  const toys::RandomSeed seed;
  for (const auto& [name, entry] : tasks().all()) {
    const auto its_own = settings.find(name);
    toys::expect_conforming_task(name, its_own == settings.end() ? std::vector<std::string>{} : its_own->second, seed);
  }
}

}  // namespace
}  // namespace anesi
