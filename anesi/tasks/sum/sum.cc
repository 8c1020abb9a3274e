// The sum of a row of handwritten digits, and nothing else: one label for N images.
//
// The less a label says of each digit, the harder it is to learn from. Published figures end at 47 % of sums of 64
// digits. The knowledge is one line; nothing else is told: how it is to be computed is found by asking (discover/).
#include "anesi/builtin/sum.h"
#include "anesi/perception/augment_digits.h"
#include "anesi/perception/lenet.h"
#include "anesi/tasks/task.h"

namespace anesi {
namespace {

Task make_sum(const SumOptions& options, const TaskContext& context) {
  auto task = task_of(sum_of_digits(options, context));
  task.make_perception = [] { return std::make_shared<LeNet>(10); };
  task.augment = [](const torch::Tensor& inputs, at::Generator generator) {
    // Without elastic bends: a few epochs are too few to learn those too.
    return augment_digits(inputs, {.elastic = 0}, std::move(generator));
  };
  return task;
}

// A table of kinds first, then perception through exact inference and its soft explanations of the labels, in rounds.
std::vector<std::string> in_rounds(bool augment) {
  return {"q.architecture=auto", "discover.seconds=120", "train.start=kinds", "train.epochs=12", "train.batch=8",
          "train.lr=0.002", "train.schedule=one_cycle", "train.weight_decay=0.05", "train.evaluate_every=3",
          "refine.labels=marginals", std::string("refine.rounds=") + (augment ? "2" : "3"),
          // Images as they are, and their explanations with them, are learned by heart in twelve epochs.
          std::string("refine.epochs=") + (augment ? "12" : "4"), "refine.batch=128", "refine.lr=0.004",
          std::string("refine.weight_decay=") + (augment ? "0.05" : "0.3"), "refine.smoothing=0.05",
          std::string("refine.augment=") + (augment ? "true" : "false")};
}

const std::vector<Preset> kPresets{
    {"default", "from kinds, then in two rounds of soft explanations, on images bent at random", in_rounds(true)},
    {"plain", "the same on images as they are, in three shorter rounds", in_rounds(false)}};

ANESI_TASK(SumOptions::kName, SumOptions::kSummary, SumOptions, kPresets, make_sum);

}  // namespace
}  // namespace anesi
