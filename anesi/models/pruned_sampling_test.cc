// Sampling under pruners, and pruning by a learned model.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "anesi/models/automaton_inference.h"
#include "anesi/models/grid.h"
#include "anesi/models/learned_pruning.h"
#include "anesi/models/sample.h"
#include "anesi/models/transducer.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

// Beliefs certain of 3 and 4, and a sum of 9: the model gives nothing to what the pruner allows.
TEST(AutomatonPruner, KeepsItsGuaranteeWhereTheModelGivesNothing) {
  const toys::Addition addition(1);
  const auto pruner = addition.facts().share<Pruner>();
  const SymbolicPruning pruning(*pruner);
  torch::manual_seed(1);
  const auto q = std::make_shared<Transducer>(addition.outputs(), reading_order_of(addition), TransducerOptions{});
  const auto beliefs = certain_beliefs(torch::tensor({{3, 4}}, torch::kInt64), addition.worlds());
  const auto output = torch::tensor({{0, 9}}, torch::kInt64);
  const auto drawn = sample(*make_explanation(q, addition.worlds()), {beliefs, output}, seeded(1), &pruning);
  EXPECT_TRUE(torch::equal(apply(addition, drawn.values), output)) << drawn.values;
}

TEST(LearnedPruning, LeavesOutWhatAnExactModelGivesNoProbability) {
  const toys::Addition addition(2);
  const auto q = make_automaton_model(addition.facts().share<Automaton>(), addition.outputs());
  const auto generator = seeded(3);
  // An exact model gives every completable value at least one world of at most a hundred.
  EXPECT_EQ(false_prunes(*q.explanation, addition, 1e-3, 500, generator).by_world, 0);
  // Too high a threshold leaves out true ones, and the rate says so.
  EXPECT_GT(false_prunes(*q.explanation, addition, 0.11, 500, generator).by_world, 0.1);
  const LearnedPruning pruning(addition.worlds(), 1e-3);
  const auto beliefs = uniform_beliefs(64, addition.worlds());
  const auto outputs = apply(addition, sample_worlds(beliefs, generator));
  const auto worlds = sample(*q.explanation, {beliefs, outputs}, generator, &pruning).values;
  EXPECT_TRUE(torch::equal(apply(addition, worlds), outputs));
}

// Where points may end early they still do.
TEST(LearnedPruning, LetsWalksEndAtTheGoal) {
  const torch::NoGradGuard no_gradients;
  torch::manual_seed(2);
  const toys::CheapestWalk problem(3);
  Grid grid(problem, GridOptions{});
  const LearnedPruning pruning(problem.worlds(), 1e-3);
  const auto beliefs = uniform_beliefs(64, problem.worlds());
  const Context context(beliefs);
  const auto walks = sample(grid, context, seeded(4), &pruning);
  EXPECT_TRUE((walks.values == kNone).any().item<bool>());
  EXPECT_TRUE(torch::allclose(log_prob(grid, context, walks.values, &pruning), walks.log_prob, 1e-4, 1e-4));
  // At the uniform belief the model judges itself, so what is left is at least as likely as before.
  EXPECT_TRUE((walks.log_prob >= grid.log_prob(context, walks.values) - 1e-4).all().item<bool>());
}

// At a length that no machine integer holds, everything sampled through the pruner adds up.
TEST(AutomatonPruner, EverySampleOfAThousandDigitsAddsUp) {
  const toys::Addition addition(1000);
  const auto pruner = addition.facts().share<Pruner>();
  const SymbolicPruning pruning(*pruner);
  // A model that knows nothing of sums.
  class Even final : public SequenceModel {
   public:
    explicit Even(const Space& worlds) : SequenceModel(worlds, order_of(worlds)) {}
    torch::Tensor log_prob(const Context&, const torch::Tensor&) override { return {}; }
    std::unique_ptr<Rollout> begin(const Context& context) override {
      class Steps final : public Rollout {
       public:
        explicit Steps(std::int64_t rows) : rows_(rows) {}
        torch::Tensor next_log_probs() override { return torch::full({rows_, 10}, -std::log(10.0)); }
        void advance(const torch::Tensor&) override {}
        void select(const torch::Tensor& rows) override { rows_ = rows.size(0); }

       private:
        std::int64_t rows_;
      };
      return std::make_unique<Steps>(context.size());
    }

   private:
    static std::vector<std::int64_t> order_of(const Space& worlds) {
      std::vector<std::int64_t> order(static_cast<std::size_t>(worlds.variables()));
      std::iota(order.begin(), order.end(), 0);
      return order;
    }
  } even(addition.worlds());
  const auto generator = seeded(9);
  const auto beliefs = uniform_beliefs(3, addition.worlds());
  const auto outputs = apply(addition, sample_worlds(beliefs, generator));
  const auto worlds = sample(even, {beliefs, outputs}, generator, &pruning).values;
  EXPECT_TRUE(torch::equal(apply(addition, worlds), outputs));
}

}  // namespace
}  // namespace anesi
