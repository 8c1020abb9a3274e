#include "anesi/builtin/builtin.h"

#include <utility>

#include "anesi/data/grouped_digits.h"

namespace anesi {

Registry<BuiltinEntry>& builtins() {
  static Registry<BuiltinEntry> all("task");
  return all;
}

std::function<SplitArrays()> rows_of_digits(std::shared_ptr<const Problem> problem, TaskContext context) {
  return [problem = std::move(problem), context = std::move(context)] {
    return grouped_digits(context.digits(), *problem, {.seed = context.seed, .validation = context.validation});
  };
}

}  // namespace anesi
