// Rankings of some kinds of sushi from rankings of others: outputs that must be permutations.
//
// A network is shown how somebody ranks six kinds, as a 6x6 matrix of bits, and is to say how they rank four others, as
// a 4x4 matrix of bits. What is known: whatever the answer, each kind has one rank and each rank one kind.
#include <fmt/format.h>

#include "anesi/builtin/preference.h"
#include "anesi/formula/constraint.h"
#include "anesi/perception/tabular_mlp.h"
#include "anesi/tasks/task.h"

namespace anesi {
namespace {

struct PreferenceTaskOptions {
  PreferenceOptions rankings = {};
  TabularMlpOptions network{.layers = 3, .width = 25};

  void describe(OptionTable& table) {
    rankings.describe(table);
    network.describe(table);
  }
};

class RankingPresentation final : public Presentation {
 public:
  std::string world(Values world) const override {
    std::string text;
    for (std::size_t rank = 0; rank < kAskedKinds.size(); ++rank) {
      text += rank == 0 ? "" : " > ";
      std::string kinds;
      for (std::size_t kind = 0; kind < kAskedKinds.size(); ++kind) {
        if (world[kind * kAskedKinds.size() + rank] != 1) continue;
        kinds += fmt::format("{}{}", kinds.empty() ? "" : "/", kAskedKinds[kind]);
      }
      text += kinds.empty() ? "-" : kinds;
    }
    return text;
  }
  std::string output(Values output) const override { return output[0] == kSatisfied ? "a ranking" : "no ranking"; }
  std::vector<std::int64_t> read_output(const std::string& text) const override {
    return read_named_output(text, {"no ranking", "a ranking"});
  }
  std::string variable(std::int64_t variable) const override {
    const auto side = static_cast<std::int64_t>(kAskedKinds.size());
    return fmt::format("kind {} has rank {}", kAskedKinds[static_cast<std::size_t>(variable / side)],
                       1 + variable % side);
  }
  std::string output_variable(std::int64_t) const override { return "constraint"; }
};

Task make_preference(const PreferenceTaskOptions& options, const TaskContext& context) {
  auto task = task_of(preference(options.rankings, context));
  task.make_perception = [network = options.network] {
    return std::make_shared<TabularMlp>(36, Space::uniform(16, 2), network);
  };
  task.presentation = std::make_shared<RankingPresentation>();
  return task;
}

const std::vector<Preset> kPreferencePresets{
    {"default",
     "the network of the published figures, three layers of 25, through exact inference: -log p(w|y,P)",
     {"loss=exact", "exact.method=circuit", "eval.decide=constrained", "train.keep=best", "train.epochs=60",
      "train.batch=64", "train.lr=0.001"}},
    {"amortized",
     "that network through a q that learned the constraint from solutions, under the pruner",
     {"loss=amortized",
      "q.architecture=mlp",
      "mlp.layers=1",
      "mlp.width=128",
      "mlp.follow_beliefs=true",
      "mlp.log_beliefs=true",
      "q.variant=prune",
      "q.policy=solutions",
      "q.samples=128",
      "q.worlds=4",
      "q.perceived=true",
      "q.counted=24",
      "q.pretrain=1000",
      "q.lr=0.001",
      "q.every=4",
      "eval.decide=constrained",
      "eval.beam=24",
      "train.keep=best",
      "train.epochs=30",
      "train.batch=64",
      "train.lr=0.001"}},
    {"alone",
     "that network alone, which knows nothing of the constraint; semantic.weight and semantic.entropy add to its loss",
     {"loss=semantic", "semantic.weight=0", "exact.method=circuit", "eval.decide=symbolic", "train.keep=best",
      "train.epochs=60", "train.batch=64", "train.lr=0.001"}},
};

ANESI_TASK(PreferenceOptions::kName, PreferenceOptions::kSummary, PreferenceTaskOptions, kPreferencePresets,
           make_preference);

}  // namespace
}  // namespace anesi
