// Parity of a row of handwritten digits: the smallest task, and the one to copy when adding another.
//
// Worlds are N digits, the output is whether their sum is odd. One bit of supervision for N images: hard for a network
// alone, easy with the knowledge that is written in the lambda below.
#include <numeric>

#include "anesi/perception/lenet.h"
#include "anesi/tasks/task.h"
#include "anesi/tensors/digit_examples.h"

namespace anesi {
namespace {

struct ParityOptions {
  std::int64_t digits = 2;
  void describe(OptionTable& table) { table.add("digits", digits, {1, 1000}, "images in a row"); }
};

Task make_parity(const ParityOptions& options, const TaskContext& context) {
  const auto problem =
      make_problem(Space::uniform(options.digits, 10), Space{2}, [](Values world, MutableValues output) {
        output[0] = std::accumulate(world.begin(), world.end(), std::int64_t{0}) % 2;
      });
  return Task{.problem = problem,
              .make_perception = [] { return std::make_shared<LeNet>(10); },
              .load =
                  [problem, context] {
                    return group_digits(context.digits(), *problem,
                                        {.seed = context.seed, .validation = context.validation});
                  }};
}

// Two latent states remember a parity; a few more make them easier to find.
const std::vector<Preset> kPresets{
    {"default",
     "a transducer that reads one digit after another",
     {"q.architecture=transducer", "transducer.states=4", "prior.kind=certain", "q.pretrain=1000", "q.samples=256",
      "q.lr=0.05", "q.schedule=cosine", "q.frozen=true", "train.epochs=10", "train.lr=0.003",
      "train.schedule=one_cycle", "train.weight_decay=0.05"}}};

ANESI_TASK("parity", "is the sum of a row of handwritten digits odd?", ParityOptions, kPresets, make_parity);

}  // namespace
}  // namespace anesi
