// Parity of a row of handwritten digits: the smallest task, and the one to copy when adding another.
//
// Worlds are N digits, the output is whether their sum is odd (builtin/parity.cc). One bit of supervision for N images:
// hard for a network alone, easy with that knowledge.
#include "anesi/builtin/parity.h"
#include "anesi/perception/lenet.h"
#include "anesi/tasks/task.h"

namespace anesi {
namespace {

Task make_parity(const ParityOptions& options, const TaskContext& context) {
  auto task = task_of(parity(options, context));
  task.make_perception = [] { return std::make_shared<LeNet>(10); };
  return task;
}

// Two latent states remember a parity; a few more make them easier to find.
const std::vector<Preset> kPresets{
    {"default",
     "a transducer that reads one digit after another",
     {"q.architecture=transducer", "transducer.states=4", "prior.kind=certain", "q.pretrain=1000", "q.samples=256",
      "q.lr=0.05", "q.schedule=cosine", "q.frozen=true", "train.epochs=10", "train.lr=0.003",
      "train.schedule=one_cycle", "train.weight_decay=0.05"}}};

ANESI_TASK(ParityOptions::kName, ParityOptions::kSummary, ParityOptions, kPresets, make_parity);

}  // namespace
}  // namespace anesi
