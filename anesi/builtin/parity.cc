// Worlds are N digits, the output is whether their sum is odd. The smallest of its kind, and the one to copy.
#include "anesi/builtin/parity.h"

#include <numeric>

namespace anesi {

Builtin parity(const ParityOptions& options, const TaskContext& context) {
  const auto problem =
      make_problem(Space::uniform(options.digits, 10), Space{2}, [](Values world, MutableValues output) {
        output[0] = std::accumulate(world.begin(), world.end(), std::int64_t{0}) % 2;
      });
  return {.problem = problem, .load = rows_of_digits(problem, context)};
}

namespace {
ANESI_BUILTIN(ParityOptions, parity);
}  // namespace

}  // namespace anesi
