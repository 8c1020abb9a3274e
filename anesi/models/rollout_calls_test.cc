// Rollouts of every architecture in random sequences of calls: what they offer next is what log_prob() says of all
// points that begin so, under a pruner as without.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <memory>

#include "anesi/core/index.h"
#include "anesi/models/architecture.h"
#include "anesi/models/exact_model.h"
#include "anesi/models/prune.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/call_sequences.h"
#include "anesi/testing/random.h"
#include "anesi/testing/random_machine.h"

namespace anesi {
namespace {

constexpr std::int64_t kContexts = 3;

InferenceModel model_to_roll(const Problem& problem, const std::string& architecture, std::uint64_t seed) {
  if (architecture == kExactArchitecture) return make_exact_model(problem);
  const SeededWeights weights(seed);
  auto model = make_model(problem, architecture, /*explain=*/true);
  model.prediction->to(torch::kFloat64);
  if (model.explanation) model.explanation->to(torch::kFloat64);
  return model;
}

// A rollout, and the beginnings that its rows have come to.
class Rolling {
 public:
  Rolling(std::uint64_t seed, const std::string& architecture, bool explains, bool prunes)
      : problem_(std::make_shared<toys::RandomMachine>(seed)),
        model_(model_to_roll(*problem_, architecture, seed)),
        sequence_(explains && model_.explanation ? model_.explanation : model_.prediction),
        context_(context(*problem_, sequence_ == model_.explanation, seed)),
        pruning_(problem_->facts().share<Pruner>()),
        prunes_(prunes),
        points_(points_of(sequence_->space())) {
    model_.eval();
    const torch::NoGradGuard no_gradients;
    for (std::int64_t row = 0; row < kContexts; ++row) {
      const auto rows = torch::full({points_.size(0)}, row, torch::kInt64);
      const auto select = [&](const torch::Tensor& of) { return of.defined() ? of.index_select(0, rows) : of; };
      prob_.push_back(sequence_->log_prob({select(context_.beliefs), select(context_.outputs)}, points_).exp());
    }
    begin();
  }

  std::string begin() {
    rollout_ = anesi::begin(*sequence_, context_, prunes_ ? &pruning_ : nullptr);
    rows_.clear();
    const Row open(as_size(sequence_->space().variables()), kUnset);
    for (std::int64_t row = 0; row < kContexts; ++row) rows_.push_back({row, open});
    step_ = 0;
    return "";
  }

  std::string look() {
    if (at_the_end()) return "";
    const torch::NoGradGuard no_gradients;
    const auto found = rollout_->next_log_probs().exp();
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const auto expected = next_probabilities(rows_[row]);
      const auto offered = found[static_cast<std::int64_t>(row)];
      if (!torch::allclose(offered, expected.to(offered.scalar_type()), 1e-4, 1e-5)) {
        return fmt::format("row {} after {}: {} is offered, not {}", row, fmt::join(rows_[row].chosen, " "),
                           fmt::join(numbers(offered), " "), fmt::join(numbers(expected), " "));
      }
    }
    return "";
  }

  // Something that is offered, in every row.
  std::string advance(std::mt19937_64& random) {
    if (at_the_end()) return "";
    const torch::NoGradGuard no_gradients;
    const auto variable = as_size(sequence_->order()[step_]);
    auto values = torch::empty({static_cast<std::int64_t>(rows_.size())}, torch::kInt64);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const auto likely = numbers(next_probabilities(rows_[row]));
      std::int64_t value = 0;
      do value = toys::drawn_below(static_cast<std::int64_t>(likely.size()), random);
      while (likely[as_size(value)] <= 0);
      rows_[row].chosen[variable] = value;
      values[static_cast<std::int64_t>(row)] = value;
    }
    rollout_->advance(values);
    ++step_;
    return "";
  }

  std::string select(std::mt19937_64& random) {
    if (at_the_end()) return "";
    const torch::NoGradGuard no_gradients;
    std::vector<std::int64_t> kept(as_size(1 + toys::drawn_below(5, random)));
    std::vector<Begun> rows;
    for (auto& row : kept) {
      row = toys::drawn_below(static_cast<std::int64_t>(rows_.size()), random);
      rows.push_back(rows_[as_size(row)]);
    }
    rollout_->select(torch::tensor(kept, torch::kInt64));
    rows_ = std::move(rows);
    return "";
  }

 private:
  using Row = std::vector<std::int64_t>;
  struct Begun {
    std::int64_t context;
    Row chosen;
  };

  // Outputs to explain are those of some worlds, since nothing explains the others.
  static Context context(const Problem& problem, bool explains, std::uint64_t seed) {
    const auto generator = seeded(seed);
    const auto beliefs = toys::random_beliefs(kContexts, problem.worlds(), 1, generator);
    if (!explains) return {beliefs};
    const auto worlds = points_of(problem.worlds());
    const auto rows = torch::randint(worlds.size(0), {kContexts}, generator, torch::kInt64);
    return {beliefs, apply(problem, worlds.index_select(0, rows))};
  }

  bool at_the_end() const { return step_ == sequence_->order().size(); }

  static std::vector<double> numbers(const torch::Tensor& values) {
    const auto row = values.to(torch::kFloat64).contiguous();
    return {row.const_data_ptr<double>(), row.const_data_ptr<double>() + row.numel()};
  }

  torch::Tensor next_probabilities(const Begun& row) const {
    const auto variable = sequence_->order()[step_];
    const auto chosen = tensor_of(row.chosen);
    const auto begin_so = (points_ == chosen).logical_or(chosen == kUnset).all(1);
    auto next = torch::zeros({sequence_->space().domain(variable)}, torch::kFloat64);
    next.index_add_(0, points_.select(1, variable), (prob_[as_size(row.context)] * begin_so).to(torch::kFloat64));
    next = next / next.sum();
    if (!prunes_) return next;
    const auto allowed = allowed_next(row, variable);
    return restrict_choice(next.log().unsqueeze(0), allowed.unsqueeze(0)).exp()[0];
  }

  // By all worlds; the pruner has tests of its own.
  torch::Tensor allowed_next(const Begun& row, std::int64_t variable) const {
    const auto worlds = points_of(problem_->worlds()), outputs = apply(*problem_, worlds);
    const auto chosen = tensor_of(row.chosen);
    const auto& points = context_.explains() ? worlds : outputs;
    auto complete = (points == chosen).logical_or(chosen == kUnset).all(1);
    if (context_.explains()) complete = complete.logical_and((outputs == context_.outputs[row.context]).all(1));
    auto allowed = torch::zeros({sequence_->space().domain(variable)}, torch::kFloat64);
    allowed.index_add_(0, points.select(1, variable), complete.to(torch::kFloat64));
    return allowed > 0;
  }

  std::shared_ptr<const Problem> problem_;
  InferenceModel model_;
  std::shared_ptr<SequenceModel> sequence_;
  Context context_;
  SymbolicPruning pruning_;
  bool prunes_;
  torch::Tensor points_;
  std::vector<torch::Tensor> prob_;  // of every point, for each context
  std::unique_ptr<Rollout> rollout_;
  std::vector<Begun> rows_;
  std::size_t step_ = 0;
};

class RolloutCalls : public testing::TestWithParam<std::string> {};

TEST_P(RolloutCalls, OfferWhatLogProbSays) {
  const auto make = [architecture = GetParam()](std::uint64_t seed) -> toys::ComparedCalls {
    const auto rolling = std::make_shared<Rolling>(seed, architecture, seed % 2 == 1, seed / 2 % 2 == 1);
    using Random = std::mt19937_64;
    return {{"begin", [rolling](Random&) { return rolling->begin(); }},
            {"look", [rolling](Random&) { return rolling->look(); }},
            {"look again", [rolling](Random&) { return rolling->look(); }},
            {"advance", [rolling](Random& random) { return rolling->advance(random); }},
            {"advance once more", [rolling](Random& random) { return rolling->advance(random); }},
            {"select", [rolling](Random& random) { return rolling->select(random); }}};
  };
  toys::check_call_sequences(make, 24, 30);
}

INSTANTIATE_TEST_SUITE_P(Architectures, RolloutCalls,
                         testing::Values("exact", "mlp", "scan", "transducer", "transformer", "set"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace anesi
