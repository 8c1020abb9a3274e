#include "anesi/train/formula_training.h"

#include <cmath>
#include <deque>

#include "anesi/core/beliefs.h"
#include "anesi/core/error.h"
#include "anesi/core/seeded.h"
#include "anesi/exact/formula_graph.h"
#include "anesi/exact/random_formula.h"
#include "anesi/models/inference_model.h"
#include "anesi/models/sample_tree.h"
#include "anesi/optimize/adam.h"
#include "anesi/pruners/sat_pruner.h"

namespace anesi {
namespace {

constexpr double kLeastBeliefDrawn = 1e-4;
constexpr double kLogOfImpossible = -8;  // a count is taken for zero from here on
constexpr double kWeightOfImpossible = 0.5;
constexpr double kSquaredUpTo = 0.5;  // errors cost their square up to here, and beyond grow in proportion
constexpr double kLargestGradient = 1;
constexpr std::int64_t kWarmUp = 50, kFormulasKept = 400, kFormulasAtFirst = 20;

// What was drawn of one formula.
struct Lesson {
  std::shared_ptr<const MessagePaths> paths;
  torch::Tensor beliefs;     // [prefixes, worlds, domain], certain of the prefix; the first is of none
  torch::Tensor log_counts;  // [prefixes]
  torch::Tensor impossible;  // [prefixes that nothing completes, worlds, domain]
};

// A belief, certain of what each prefix has chosen; int64 [prefixes, worlds].
torch::Tensor certain_of(const torch::Tensor& belief, const torch::Tensor& prefixes, const Space& worlds) {
  const auto unset = (prefixes == kUnset).unsqueeze(2);
  return torch::where(unset, belief, certain_beliefs(prefixes.clamp_min(0), worlds).to(belief.options()));
}

Lesson lesson_of(const Cnf& cnf, const std::shared_ptr<GraphNetwork>& network, std::int64_t draws,
                 const at::Generator& generator) {
  const Space worlds = Space::uniform(static_cast<std::int64_t>(cnf.encoding().worlds.size()), 2);
  const auto pruner = make_sat_pruner(cnf, worlds, Space{2});
  const SymbolicPruning pruning(*pruner);
  Lesson lesson;
  lesson.paths = std::make_shared<const MessagePaths>(factor_graph_of(cnf, worlds));
  Graph explanation(lesson.paths, network, /*explains=*/true);
  const auto one = torch::rand({worlds.variables()}, generator).clamp(kLeastBeliefDrawn, 1 - kLeastBeliefDrawn);
  const auto belief = torch::stack({1 - one, one}, 1);  // [worlds, 2]
  const auto tree =
      sample_tree(explanation, {belief.unsqueeze(0), torch::ones({1, 1}, torch::kInt64)}, draws, generator, &pruning);
  std::vector<torch::Tensor> beliefs, log_counts, impossible;
  auto log_count = torch::zeros({tree.points().draws.size(0)}, torch::kFloat64);  // of each node, from the last on
  for (auto step = tree.levels.size(); step-- > 0;) {
    const auto& level = tree.levels[step];
    const auto variable = explanation.order()[step];
    const bool first = step == 0;
    const auto above =
        first ? torch::full({1, worlds.variables()}, kUnset, torch::kInt64) : tree.levels[step - 1].values;
    const auto above_draws = first ? tree.draws : tree.levels[step - 1].draws;
    // The mean, over the draws that go through a node, of p(w|P) / q(w|y,P) from there on.
    const auto chosen = level.values.select(1, variable);
    const auto ratio = belief[variable].to(torch::kFloat64).index_select(0, chosen).log() - level.log_prob;
    const auto terms = (log_count + ratio).exp() * level.draws;
    log_count = (torch::zeros({above.size(0)}, torch::kFloat64).index_add(0, level.parent, terms) / above_draws).log();
    const auto choice = level.offered.all(1);
    const auto looked_at = first ? torch::ones_like(choice) : choice;
    beliefs.insert(beliefs.begin(), certain_of(belief, above.index({looked_at}), worlds));
    log_counts.insert(log_counts.begin(), log_count.index({looked_at}));
    const auto forbidden = level.offered.logical_not().nonzero();  // (node, value)
    auto dead = above.index_select(0, forbidden.select(1, 0));
    dead.select(1, variable).copy_(forbidden.select(1, 1));
    impossible.push_back(certain_of(belief, dead, worlds));
  }
  lesson.beliefs = torch::cat(beliefs);
  lesson.log_counts = torch::cat(log_counts).to(torch::kFloat32);
  lesson.impossible = torch::cat(impossible);
  return lesson;
}

// Some of the rows, each once; the first always where `with_first`.
torch::Tensor some_of(const torch::Tensor& rows, std::int64_t count, bool with_first, const at::Generator& generator) {
  if (rows.size(0) <= count) return torch::arange(rows.size(0), torch::kInt64);
  if (!with_first) return torch::randperm(rows.size(0), generator, torch::kInt64).slice(0, 0, count);
  const auto others = torch::randperm(rows.size(0) - 1, generator, torch::kInt64).slice(0, 0, count - 1) + 1;
  return torch::cat({torch::zeros({1}, torch::kInt64), others});
}

}  // namespace

DrawFormula random_formulas(double from, double to) {
  return [from, to](std::mt19937_64& random) {
    constexpr int kFewest = 10, kMost = 20, kLiterals = 3, kParts = 1 << 20;
    while (true) {
      const auto variables = kFewest + static_cast<int>(random() % (kMost - kFewest + 1));
      const auto ratio = from + (to - from) * static_cast<double>(random() % kParts) / kParts;
      auto cnf = random_formula(variables, static_cast<int>(std::lround(ratio * variables)), kLiterals, random);
      if (is_satisfiable(cnf)) return cnf;
    }
  };
}

void train_on_formulas(const std::shared_ptr<GraphNetwork>& network, const DrawFormula& draw,
                       const FormulaTrainingOptions& options, std::uint64_t seed, const FormulaProgress& progress) {
  namespace functional = torch::nn::functional;
  std::mt19937_64 random(seed);
  const auto generator = seeded(seed);
  const auto parameters = network->parameters();
  Adam optimizer(parameters);
  std::deque<Lesson> lessons;
  std::int64_t drawn = 0;
  const auto huber = functional::SmoothL1LossFuncOptions().beta(kSquaredUpTo).reduction(torch::kSum);
  for (std::int64_t step = 0; step < options.steps; ++step) {
    while (drawn < kFormulasAtFirst || drawn * options.reuse < step * options.formulas) {
      lessons.push_back(lesson_of(draw(random), network, options.worlds, generator));
      ++drawn;
      if (static_cast<std::int64_t>(lessons.size()) > kFormulasKept) lessons.pop_front();
    }
    optimizer.zero_gradients();
    double error = 0;
    for (std::int64_t formula = 0; formula < options.formulas; ++formula) {
      const auto& lesson = lessons[random() % lessons.size()];
      const auto examples = some_of(lesson.beliefs, options.examples, /*with_first=*/true, generator);
      const auto nothing = some_of(lesson.impossible, options.impossible, /*with_first=*/false, generator);
      const auto beliefs =
          torch::cat({lesson.beliefs.index_select(0, examples), lesson.impossible.index_select(0, nothing)});
      const auto counts = network->log_count(*lesson.paths, lesson.paths->log_weights(beliefs));
      const auto estimated = counts.slice(0, 0, examples.size(0)), zero = counts.slice(0, examples.size(0));
      const auto expected = lesson.log_counts.index_select(0, examples);
      const auto above = (zero - kLogOfImpossible).relu();
      const auto loss = functional::smooth_l1_loss(estimated, expected, huber) +
                        kWeightOfImpossible * functional::smooth_l1_loss(above, torch::zeros_like(above), huber);
      (loss / static_cast<double>(options.examples * options.formulas)).backward();
      error += (estimated - expected).abs().mean().item<double>() / static_cast<double>(options.formulas);
    }
    if (!std::isfinite(error)) throw Error("graph: the loss is not a finite number; a lower learning rate may help");
    torch::nn::utils::clip_grad_norm_(parameters, kLargestGradient);
    const auto left = 1 - static_cast<double>(step) / static_cast<double>(options.steps);
    const auto begun = std::min(1.0, static_cast<double>(step + 1) / kWarmUp);
    optimizer.step(options.learning_rate * begun * std::sqrt(left));
    if (progress) progress(step + 1, error);
  }
  optimizer.zero_gradients();
}

}  // namespace anesi
