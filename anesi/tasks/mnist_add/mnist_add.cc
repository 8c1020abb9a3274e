// Multi-digit MNISTAdd (section 4.1 of the paper): two rows of N handwritten digits, labelled with their sum alone.
#include <fmt/format.h>

#include "anesi/builtin/mnist_add.h"
#include "anesi/core/error.h"
#include "anesi/perception/augment_digits.h"
#include "anesi/perception/lenet.h"
#include "anesi/tasks/task.h"
#include "anesi/tensors/image_examples.h"

namespace anesi {
namespace {

// A recurrent q that explains. Joint matching alone leaves its predictions unsure of what perception is sure of, so
// cross-entropy is added for them.
std::vector<std::string> explaining(const std::string& variant) {
  return {"q.variant=" + variant,
          "q.architecture=scan",
          "scan.width=128",
          "q.prediction_weight=1",
          "q.clip=10",
          "prior.kind=fixed",
          "prior.concentration=0.2",
          "q.pretrain=200",
          "q.samples=64",
          "q.lr=0.002",
          "q.schedule=cosine",
          "train.epochs=25",
          "train.lr=0.003",
          "train.schedule=one_cycle",
          "train.weight_decay=0.1",
          "train.smoothing=0.1",
          "eval.beam=1"};
}

// The default for a few epochs, then a fresh network on the explanations of the labels.
std::vector<std::string> refining(bool augment) {
  return {"q.architecture=transducer",
          "transducer.states=4",
          "prior.kind=certain",
          "q.pretrain=2000",
          "q.samples=64",
          "q.lr=0.05",
          "q.schedule=cosine",
          "q.frozen=true",
          "q.variant=prune",
          "train.epochs=10",
          "train.lr=0.003",
          "train.schedule=one_cycle",
          "train.weight_decay=0.1",
          "train.smoothing=0.1",
          std::string("refine.epochs=") + (augment ? "60" : "30"),
          "refine.batch=128",
          "refine.lr=0.004",
          "refine.weight_decay=0.05",
          "refine.smoothing=0.05",
          std::string("refine.augment=") + (augment ? "true" : "false"),
          "eval.beam=16"};
}

const std::vector<Preset> kPresets{
    {"default",
     "a transducer learned from worlds alone, then perception through it",
     {"q.architecture=transducer", "transducer.states=4", "prior.kind=certain", "q.pretrain=2000", "q.samples=64",
      "q.lr=0.05", "q.schedule=cosine", "q.frozen=true", "q.variant=prune", "train.epochs=25", "train.lr=0.003",
      "train.schedule=one_cycle", "train.weight_decay=0.1", "train.smoothing=0.1", "eval.beam=16"}},
    {"scan",
     "a recurrent q learned from sampled beliefs beside perception (Algorithm 2)",
     {"q.architecture=scan", "scan.width=128", "prior.kind=fixed", "prior.concentration=0.2", "q.pretrain=200",
      "q.samples=64", "q.lr=0.002", "q.schedule=cosine", "train.epochs=25", "train.lr=0.003",
      "train.schedule=one_cycle", "train.weight_decay=0.1", "train.smoothing=0.1", "eval.beam=16"}},
    {"explain", "the same with an explanation network, matched jointly", explaining("explain")},
    {"prune", "the same under the pruner: everything q samples adds up", explaining("prune")},
    {"refine", "the default for a few epochs, then a fresh network on its explanations of the labels", refining(false)},
    {"refine-augment", "the same, on images bent at random", refining(true)},
    {"blind",
     "nothing is told of c but its values: how it adds is found by asking",
     {"task.described=false", "q.architecture=auto", "train.epochs=25", "train.lr=0.003", "train.schedule=one_cycle",
      "train.weight_decay=0.1", "train.smoothing=0.1", "eval.beam=16"}},
    {"soft",
     "blind, then fresh networks on soft explanations of the labels, in two rounds, on images bent at random",
     {"task.described=false", "q.architecture=auto", "train.epochs=10", "train.lr=0.003", "train.schedule=one_cycle",
      "train.weight_decay=0.1", "train.smoothing=0.1", "refine.labels=marginals", "refine.rounds=2", "refine.epochs=30",
      "refine.batch=128", "refine.lr=0.004", "refine.weight_decay=0.05", "refine.smoothing=0.05", "refine.augment=true",
      "eval.beam=16"}},
    {"paper",
     "the paper's hyperparameters to the letter (prediction only)",
     {"q.architecture=mlp", "mlp.layers=3", "mlp.width=800", "prior.kind=fitted", "prior.window=2500",
      "prior.iterations=50", "prior.lr=0.01", "prior.initial=0.1", "prior.l2=900000", "q.pretrain=0", "q.samples=600",
      "q.lr=0.001", "q.schedule=constant", "train.epochs=100", "train.batch=16", "train.lr=0.001",
      "train.schedule=constant", "train.weight_decay=0", "eval.beam=600"}},
    {"no-prior",
     "the paper's ablation: q sees only the beliefs that perception emits",
     {"q.architecture=mlp", "mlp.layers=3", "mlp.width=800", "prior.kind=observed", "prior.window=2500", "q.pretrain=0",
      "q.samples=600", "q.lr=0.001", "q.schedule=constant", "train.epochs=100", "train.batch=16", "train.lr=0.001",
      "train.schedule=constant", "train.weight_decay=0", "eval.beam=600"}},
};

class SumsOnPaper final : public Presentation {
 public:
  explicit SumsOnPaper(std::int64_t digits) : digits_(static_cast<std::size_t>(digits)) {}

  std::string world(Values world) const override {
    return digits_of(world.subspan(0, digits_)) + " + " + digits_of(world.subspan(digits_));
  }
  std::string output(Values output) const override { return number_of(output); }
  std::int64_t columns() const override { return static_cast<std::int64_t>(digits_); }
  std::vector<std::int64_t> read_output(const std::string& text) const override {
    const auto width = digits_ + 1;
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos || text.size() > width) {
      throw UsageError(fmt::format("output '{}': a sum here is a number of up to {} digits", text, width));
    }
    std::vector<std::int64_t> output(width - text.size(), 0);
    for (const auto digit : text) output.push_back(digit - '0');
    return output;
  }
  torch::Tensor read_input(const std::filesystem::path& path) const override {
    return read_image_example(path, static_cast<std::int64_t>(2 * digits_), "the first number's digits first");
  }

 private:
  std::size_t digits_;
};

Task make_mnist_add(const MnistAddOptions& options, const TaskContext& context) {
  auto task = task_of(mnist_add(options, context));
  task.make_perception = [] { return std::make_shared<LeNet>(10); };
  task.presentation = std::make_shared<SumsOnPaper>(options.digits);
  task.augment = [](const torch::Tensor& inputs, at::Generator generator) {
    return augment_digits(inputs, {}, std::move(generator));
  };
  return task;
}

ANESI_TASK(MnistAddOptions::kName, MnistAddOptions::kSummary, MnistAddOptions, kPresets, make_mnist_add);

}  // namespace
}  // namespace anesi
