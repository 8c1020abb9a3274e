// Exact inference of every kind, against enumeration and against each other.
#include <gtest/gtest.h>

#include <random>

#include "anesi/core/error.h"
#include "anesi/logic/circuit.h"
#include "anesi/models/automaton_inference.h"
#include "anesi/models/beam.h"
#include "anesi/models/exact_model.h"
#include "anesi/models/sample.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

struct ExactCase {
  std::string method;
  std::int64_t digits;

  friend void PrintTo(const ExactCase& the_case, std::ostream* out) {
    *out << the_case.method << " at " << the_case.digits << " digits";
  }
};

class ExactInferenceOfAddition : public testing::TestWithParam<ExactCase> {
 protected:
  toys::Addition addition_{GetParam().digits};
  std::unique_ptr<ExactInference> enumerated_ = make_exact(addition_, {.method = "enumerate"});
  std::unique_ptr<ExactInference> inference_ = make_exact(addition_, {.method = GetParam().method});
  torch::Tensor beliefs_ = toys::random_beliefs(20, addition_.worlds(), 2, seeded(7));
  torch::Tensor outputs_ = apply(addition_, sample_worlds(beliefs_, seeded(1)));
};

TEST_P(ExactInferenceOfAddition, GivesTheSameProbabilitiesAndGradients) {
  // Some outputs are left partly open, and some beliefs are certain of something.
  outputs_.slice(0, 0, 5).select(1, 1).fill_(kUnset);
  outputs_.slice(0, 0, 2).fill_(kUnset);
  beliefs_.slice(0, 10, 15).select(1, 0).zero_().select(1, 3).fill_(1);
  auto expected_beliefs = beliefs_.clone().requires_grad_(true), beliefs = beliefs_.clone().requires_grad_(true);
  const auto expected = enumerated_->log_prob(expected_beliefs, outputs_),
             found = inference_->log_prob(beliefs, outputs_);
  EXPECT_TRUE(torch::allclose(found, expected, 1e-9, 1e-9)) << found << expected;
  EXPECT_NEAR(found[0].item<double>(), 0, 1e-9) << "an output of which nothing is asked is certain";
  const auto possible = expected.isfinite();
  expected.masked_select(possible).sum().backward();
  found.masked_select(possible).sum().backward();
  EXPECT_TRUE(torch::allclose(beliefs.grad(), expected_beliefs.grad(), 1e-6, 1e-8));
}

TEST_P(ExactInferenceOfAddition, GivesTheSameMarginalsAndTheMostProbableWorld) {
  EXPECT_TRUE(torch::allclose(inference_->marginals(beliefs_, outputs_), enumerated_->marginals(beliefs_, outputs_),
                              1e-8, 1e-10));
  const auto expected = enumerated_->most_probable(beliefs_, outputs_),
             found = inference_->most_probable(beliefs_, outputs_);
  EXPECT_TRUE(torch::equal(found.worlds, expected.worlds));
  EXPECT_TRUE(torch::allclose(found.log_prob, expected.log_prob, 1e-9, 1e-9));
  EXPECT_TRUE(torch::allclose(found.log_prob, world_log_prob(beliefs_, found.worlds), 1e-9, 1e-9));
}

TEST_P(ExactInferenceOfAddition, SamplesFollowThePosterior) {
  constexpr std::int64_t kSamples = 4000;
  const auto belief = beliefs_[3].unsqueeze(0), output = outputs_[3].unsqueeze(0);
  const auto worlds = inference_->sample(belief.expand({kSamples, -1, -1}), output.expand({kSamples, -1}), seeded(2));
  EXPECT_TRUE(torch::equal(apply(addition_, worlds), output.expand({kSamples, -1})));
  const auto shares = certain_beliefs(worlds, addition_.worlds()).to(torch::kFloat64).mean(0);
  EXPECT_LT((shares - enumerated_->marginals(belief, output)[0]).abs().max().item<double>(), 0.04);
}

TEST_P(ExactInferenceOfAddition, AnImpossibleOutputIsImpossible) {
  outputs_.fill_(9).select(1, 0).fill_(1);  // 199…9 is no sum
  EXPECT_TRUE(inference_->log_prob(beliefs_, outputs_).isneginf().all().item<bool>());
  EXPECT_TRUE(inference_->most_probable(beliefs_, outputs_).log_prob.isneginf().all().item<bool>());
  EXPECT_THROW(inference_->sample(beliefs_, outputs_, seeded(1)), Error);
}

TEST_P(ExactInferenceOfAddition, IsAModelToo) {
  const torch::NoGradGuard no_gradients;
  const auto q = make_exact_model(addition_, {.method = GetParam().method});
  const auto beliefs = beliefs_.slice(0, 0, 3).to(torch::kFloat32);
  const auto best = beam_search(*q.prediction, beliefs, 20);
  EXPECT_TRUE(torch::allclose(enumerated_->log_prob(beliefs, best.values.select(1, 0).contiguous()).to(torch::kFloat32),
                              best.log_prob.select(1, 0), 1e-3, 1e-3));
  const Context context(beliefs, best.values.select(1, 0).contiguous());
  const auto expected = enumerated_->most_probable(beliefs, context.outputs);
  EXPECT_TRUE(torch::equal(explain(*q.explanation, context, 1).values.select(1, 0), expected.worlds));
  const auto drawn = sample(*q.explanation, context, seeded(4));
  EXPECT_TRUE(torch::equal(apply(addition_, drawn.values), context.outputs));
  EXPECT_TRUE(
      torch::allclose(q.explanation->log_prob(context, drawn.values).to(torch::kFloat32), drawn.log_prob, 1e-3, 1e-3));
}

INSTANTIATE_TEST_SUITE_P(Methods, ExactInferenceOfAddition,
                         testing::Values(ExactCase{"automaton", 1}, ExactCase{"automaton", 2}, ExactCase{"circuit", 1},
                                         ExactCase{"enumerate", 1}),
                         [](const auto& info) { return info.param.method + "_" + std::to_string(info.param.digits); });

TEST(AutomatonInference, StaysFiniteWhereEveryDigitIsReadWrong) {
  // A thousand digits, each belief nearly certain of something else than the truth.
  const toys::Addition addition(1000);
  const auto inference = make_automaton_inference(addition.facts().share<Automaton>());
  auto beliefs = torch::full({1, 2000, 10}, 1e-30, torch::kFloat64);
  beliefs.select(2, 3).fill_(1);
  const auto worlds = torch::full({1, 2000}, 7, torch::kInt64);
  const auto log_prob = inference->log_prob(beliefs, apply(addition, worlds)).item<double>();
  EXPECT_TRUE(std::isfinite(log_prob));
  EXPECT_LT(log_prob, -1000 * 30 * std::log(10.0) / 2);
  const auto best = inference->most_probable(beliefs, apply(addition, worlds));
  EXPECT_TRUE(torch::equal(apply(addition, best.worlds), apply(addition, worlds)));
}

TEST(Circuit, CountsRandomFormulasAsEnumerationDoes) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0.01, 1);
  for (int trial = 0; trial < 1000; ++trial) {
    const int variables = 2 + static_cast<int>(random() % 7);
    std::vector<std::vector<int>> clauses(1 + random() % 14);
    for (auto& clause : clauses) {
      for (auto length = 1 + random() % 3; length-- > 0;) {
        const int variable = 1 + static_cast<int>(random() % static_cast<unsigned>(variables));
        clause.push_back(random() % 2 == 0 ? variable : -variable);
      }
    }
    Circuit::Weights weights(2 * static_cast<std::size_t>(variables) + 1);
    for (auto& weight : weights) weight = std::log(uniform(random));
    double total = 0, best = -1, models = 0;
    std::vector<double> by_literal(weights.size(), 0);
    for (unsigned world = 0; world < 1U << variables; ++world) {
      const auto holds = [&](int literal) {
        return ((world >> (std::abs(literal) - 1)) & 1U) == (literal > 0 ? 1U : 0U);
      };
      if (!std::ranges::all_of(clauses, [&](const auto& clause) { return std::ranges::any_of(clause, holds); }))
        continue;
      const auto place_of_literal = [&](int variable) {
        return static_cast<std::size_t>(std::int64_t{variables} + (holds(variable) ? variable : -variable));
      };
      double weight = 1;
      for (int variable = 1; variable <= variables; ++variable) weight *= std::exp(weights[place_of_literal(variable)]);
      for (int variable = 1; variable <= variables; ++variable) by_literal[place_of_literal(variable)] += weight;
      total += weight;
      best = std::max(best, weight);
      ++models;
    }
    const auto circuit = Circuit::compile(variables, clauses);
    ASSERT_EQ(circuit.models(), models) << "trial " << trial;
    if (models == 0) {
      EXPECT_FALSE(circuit.satisfiable());
      EXPECT_EQ(circuit.log_count(weights), -INFINITY);
      continue;
    }
    Circuit::Weights derivative;
    ASSERT_NEAR(circuit.log_count(weights, derivative), std::log(total), 1e-9) << "trial " << trial;
    for (std::size_t literal = 0; literal < weights.size(); ++literal) {
      if (literal == static_cast<std::size_t>(variables)) continue;
      ASSERT_NEAR(derivative[literal], by_literal[literal] / total, 1e-9) << "trial " << trial;
    }
    std::vector<bool> model;
    ASSERT_NEAR(circuit.best_model(weights, model), std::log(best), 1e-9) << "trial " << trial;
    for (const auto& clause : clauses) {
      EXPECT_TRUE(std::ranges::any_of(clause, [&](int literal) {
        return model[static_cast<std::size_t>(std::abs(literal))] == (literal > 0);
      })) << "the best model is none";
    }
  }
}

// The rules of a 4x4 sudoku: 288 grids obey them.
TEST(Circuit, CountsTheSudokusOfSizeFour) {
  Cnf cnf(Space::uniform(16, 4), Space(std::vector<std::int64_t>{1}));
  for (int first = 0; first < 16; ++first) {
    for (int second = first + 1; second < 16; ++second) {
      const bool same_row = first / 4 == second / 4, same_column = first % 4 == second % 4,
                 same_block = first / 8 == second / 8 && first % 4 / 2 == second % 4 / 2;
      if (!same_row && !same_column && !same_block) continue;
      for (int value = 0; value < 4; ++value) cnf.add({-cnf.world(first, value), -cnf.world(second, value)});
    }
  }
  EXPECT_EQ(Circuit::compile(cnf.variables(), cnf.clauses()).models(), 288);
}

TEST(Circuit, GivesUpInTimeAndSaysSo) {
  const toys::Addition addition(12);
  const auto cnf = addition.facts().share<Cnf>();
  const auto message = toys::message_of([&] { Circuit::compile(cnf->variables(), cnf->clauses(), 0.01); });
  EXPECT_TRUE(toys::names(message, {"circuit", "0.01 s"}));
}

TEST(Exact, SaysWhatAProblemLacks) {
  const auto large = make_problem(Space::uniform(40, 10), Space{2}, [](Values, MutableValues y) { y[0] = 0; });
  EXPECT_EQ(find_exact(*large), nullptr);
  for (const auto& method : backends().names()) EXPECT_THROW(make_exact(*large, {.method = method}), Error) << method;
}

}  // namespace
}  // namespace anesi
