// Worlds are N digits, the output is their sum. Nothing else is told of the function: how it is to be computed is found
// by querying it (discover/).
#include "anesi/builtin/sum.h"

#include <numeric>

namespace anesi {

Builtin sum_of_digits(const SumOptions& options, const TaskContext& context) {
  const auto problem = make_problem(Space::uniform(options.digits, 10), Space{9 * options.digits + 1},
                                    [](Values world, MutableValues output) {
                                      output[0] = std::accumulate(world.begin(), world.end(), std::int64_t{0});
                                    });
  return {.problem = problem, .load = rows_of_digits(problem, context)};
}

namespace {
ANESI_BUILTIN(SumOptions, sum_of_digits);
}  // namespace

}  // namespace anesi
