#include "anesi/train/formula_training.h"

#include <cmath>
#include <deque>

#include "anesi/core/error.h"
#include "anesi/core/interrupt.h"
#include "anesi/logic/formula_graph.h"
#include "anesi/logic/random_formula.h"
#include "anesi/models/inference_model.h"
#include "anesi/models/sample_tree.h"
#include "anesi/optimize/adam.h"
#include "anesi/search/sat_pruner.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr double kLeastBeliefDrawn = 1e-4;
constexpr double kLogOfImpossible = -8;  // a count is taken for zero from here on
constexpr double kWeightOfImpossible = 0.5;
constexpr double kSquaredUpTo = 0.5;  // errors cost their square up to here, and beyond grow in proportion
constexpr double kLargestGradient = 1;
constexpr std::int64_t kShareOfDraws = 8;  // at least one in so many goes through a prefix of a soft formula
constexpr std::int64_t kWarmUp = 50, kFormulasKept = 400, kFormulasAtFirst = 20;

// What there is to learn from.
struct Taught {
  Space worlds;
  std::shared_ptr<const MessagePaths> paths;
  std::shared_ptr<const Pruner> pruner;
  torch::Tensor soft = {};                                                 // weights of soft clauses, where there are
  std::function<torch::Tensor(const torch::Tensor& worlds)> passing = {};  // log of how likely each passes those
};
using DrawTaught = std::function<Taught(std::mt19937_64& random)>;

// What was drawn of one formula.
struct Lesson {
  std::shared_ptr<const MessagePaths> paths;
  torch::Tensor soft;
  torch::Tensor beliefs;     // [prefixes, worlds, domain], certain of the prefix; the first is of none
  torch::Tensor log_counts;  // [prefixes]
  torch::Tensor impossible;  // [prefixes that nothing completes, worlds, domain]
};

// A belief, certain of what each prefix has chosen; int64 [prefixes, worlds].
torch::Tensor certain_of(const torch::Tensor& belief, const torch::Tensor& prefixes, const Space& worlds) {
  const auto unset = (prefixes == kUnset).unsqueeze(2);
  return torch::where(unset, belief, certain_beliefs(prefixes.clamp_min(0), worlds).to(belief.options()));
}

// [worlds, domain]
torch::Tensor any_belief(const Space& worlds, const at::Generator& generator) {
  if (worlds.all_domains_equal() && worlds.largest_domain() == 2) {
    const auto one = torch::rand({worlds.variables()}, generator).clamp(kLeastBeliefDrawn, 1 - kLeastBeliefDrawn);
    return torch::stack({1 - one, one}, 1);
  }
  auto shares =
      -torch::rand({worlds.variables(), worlds.largest_domain()}, generator).clamp_min(kLeastBeliefDrawn).log();
  shares = shares + kLeastBeliefDrawn;
  for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
    shares[variable].slice(0, worlds.domain(variable)).zero_();
  }
  return shares / shares.sum(1, /*keepdim=*/true);
}

Lesson lesson_of(const Taught& taught, const std::shared_ptr<GraphNetwork>& network, std::int64_t draws,
                 const at::Generator& generator) {
  const auto& worlds = taught.worlds;
  const SymbolicPruning pruning(taught.pruner);
  Lesson lesson;
  lesson.paths = taught.paths;
  lesson.soft = taught.soft;
  Graph explanation(lesson.paths, network, /*explains=*/true, taught.soft);
  const auto belief = any_belief(worlds, generator);
  const auto tree =
      sample_tree(explanation, {belief.unsqueeze(0), torch::ones({1, 1}, torch::kInt64)}, draws, generator, &pruning);
  std::vector<torch::Tensor> beliefs, log_counts, impossible;
  auto log_count = taught.passing ? taught.passing(tree.points().values)  // of each node, from the last on
                                  : torch::zeros({tree.points().draws.size(0)}, torch::kFloat64);
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
    // Few draws say little of a soft formula, of which q is nearly right from the start.
    const auto known = taught.passing ? choice.logical_and(above_draws >= draws / kShareOfDraws) : choice;
    const auto looked_at = first ? torch::ones_like(choice) : known;
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

void train_on(const std::shared_ptr<GraphNetwork>& network, const DrawTaught& draw,
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
      check_interrupt();
      lessons.push_back(lesson_of(draw(random), network, options.worlds, generator));
      ++drawn;
      if (static_cast<std::int64_t>(lessons.size()) > kFormulasKept) lessons.pop_front();
    }
    check_interrupt();
    optimizer.zero_gradients();
    double error = 0;
    for (std::int64_t formula = 0; formula < options.formulas; ++formula) {
      const auto& lesson = lessons[random() % lessons.size()];
      const auto examples = some_of(lesson.beliefs, options.examples, /*with_first=*/true, generator);
      const auto nothing = some_of(lesson.impossible, options.impossible, /*with_first=*/false, generator);
      const auto beliefs =
          torch::cat({lesson.beliefs.index_select(0, examples), lesson.impossible.index_select(0, nothing)});
      const auto counts = network->log_count(*lesson.paths, lesson.paths->log_weights(beliefs), lesson.soft);
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

Taught taught(const Cnf& cnf) {
  const Space worlds = Space::uniform(static_cast<std::int64_t>(cnf.encoding().worlds.size()), 2);
  return {worlds, std::make_shared<const MessagePaths>(factor_graph_of(cnf, worlds)),
          make_sat_pruner(cnf, worlds, Space{2})};
}

Taught taught(const SoftFormula& formula) {
  const auto& logic = formula.logic;
  const auto weights = formula.weights.to(torch::kFloat64);
  return {logic->worlds(), logic->paths(), logic->hard().facts().share<Pruner>(), weights,
          [logic, weights](const torch::Tensor& worlds) {
            return logic->holds(worlds).mv(weights) - MarkovInference::log_scale(weights);
          }};
}

// From 0 to 1. Remainders rather than a distribution of the standard library, which differs from one to the other.
double uniform_of(std::mt19937_64& random) {
  constexpr std::uint64_t kParts = 1 << 20;
  return static_cast<double>(random() % kParts) / kParts;
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

DrawSoftFormula random_soft_formulas(double seconds) {
  return [seconds](std::mt19937_64& random) {
    constexpr int kFewest = 4, kMost = 12, kMostLiterals = 3, kOneInHard = 8;
    constexpr double kMostClauses = 3, kLargestWeight = 2;
    while (true) {
      const auto variables = kFewest + static_cast<int>(random() % (kMost - kFewest + 1));
      const auto clauses = std::lround((1 + (kMostClauses - 1) * uniform_of(random)) * variables);
      Wcnf formula;
      formula.hard.variables = variables;
      for (std::int64_t count = 0; count < clauses; ++count) {
        const auto literals = 1 + static_cast<int>(random() % kMostLiterals);
        auto clause = random_formula(variables, 1, literals, random).clauses()[0];
        if (random() % kOneInHard == 0) {
          formula.hard.clauses.push_back(std::move(clause));
        } else {
          formula.soft.push_back({std::move(clause), kLargestWeight * (2 * uniform_of(random) - 1)});
        }
      }
      if (formula.soft.empty()) continue;
      try {
        auto logic = std::make_shared<const MarkovInference>(std::move(formula), seconds);
        return SoftFormula{logic, logic->weights()};
      } catch (const UsageError&) {
        throw;
      } catch (const Error&) {
        // No world keeps the hard clauses.
      }
    }
  };
}

DrawSoftFormula weights_of_one_formula(std::shared_ptr<const MarkovInference> logic) {
  constexpr double kAtLeast = 2;
  const auto largest = std::max(kAtLeast, logic->weights().abs().max().item<double>());
  return [logic = std::move(logic), largest](std::mt19937_64& random) {
    auto weights = torch::empty({logic->clauses()}, torch::kFloat64);
    for (std::int64_t clause = 0; clause < logic->clauses(); ++clause) {
      weights[clause] = largest * (2 * uniform_of(random) - 1);
    }
    return SoftFormula{logic, weights};
  };
}

void train_on_formulas(const std::shared_ptr<GraphNetwork>& network, const DrawFormula& draw,
                       const FormulaTrainingOptions& options, std::uint64_t seed, const FormulaProgress& progress) {
  train_on(
      network, [&](std::mt19937_64& random) { return taught(draw(random)); }, options, seed, progress);
}

void train_on_soft_formulas(const std::shared_ptr<GraphNetwork>& network, const DrawSoftFormula& draw,
                            const FormulaTrainingOptions& options, std::uint64_t seed,
                            const FormulaProgress& progress) {
  train_on(
      network, [&](std::mt19937_64& random) { return taught(draw(random)); }, options, seed, progress);
}

}  // namespace anesi
