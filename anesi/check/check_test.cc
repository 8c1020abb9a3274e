#include <gtest/gtest.h>

#include <atomic>
#include <limits>

#include "anesi/check/model_check.h"
#include "anesi/core/asked_output.h"
#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/known_variables.h"
#include "anesi/core/score.h"
#include "anesi/core/values_are_names.h"
#include "anesi/discover/problem_check.h"
#include "anesi/exact/automaton.h"
#include "anesi/logic/cnf.h"
#include "anesi/losses/amortized.h"
#include "anesi/models/exact_model.h"
#include "anesi/models/transducer.h"
#include "anesi/priors/certain.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

// A transducer that is trained a little: neither exact nor hopeless.
std::shared_ptr<Transducer> trained(const std::shared_ptr<const Problem>& addition, int steps) {
  torch::manual_seed(4);
  auto model = std::make_shared<Transducer>(addition->outputs(), reading_order_of(*addition), TransducerOptions{});
  const Schedule schedule{.lr = 0.05, .shape = Shape::kCosine};
  AmortizedOptions options;
  options.samples = 64;
  AmortizedLoss loss(addition, {model, nullptr}, std::make_unique<CertainBeliefs>(addition->worlds()), options,
                     seeded(1));
  for (int step = 0; step < steps; ++step) loss.update(schedule.at(step, steps));
  return model;
}

class CertificateOfATransducer : public testing::TestWithParam<std::int64_t> {};

TEST_P(CertificateOfATransducer, HoldsForEveryOneOfAThousandBeliefs) {
  const auto problem = std::make_shared<toys::Addition>(GetParam());
  const auto& addition = *problem;
  const auto model = trained(problem, 400);
  const auto beliefs = FixedDirichlet(addition.worlds(), 0.2).sample(1000, seeded(2));
  const auto distances = total_variations(*model, addition.outputs(), *make_exact(addition), beliefs);
  // The expectation itself, by going through every world, not an estimate of it.
  const torch::NoGradGuard no_gradients;
  const auto worlds = points_of(addition.worlds());
  const auto errors =
      -model->log_prob(certain_beliefs(worlds, addition.worlds()), apply(addition, worlds)).to(torch::kFloat64).expm1();
  const auto exact_bound = [&](const torch::Tensor& belief) {
    auto weights = torch::ones({1}, torch::kFloat64);
    for (const auto& row : belief.to(torch::kFloat64).unbind(0)) weights = torch::outer(weights, row).flatten();
    return (weights * errors).sum().item<double>();
  };
  for (std::int64_t row = 0; row < 1000; ++row) {
    // Total variation is added up from 32-bit probabilities.
    ASSERT_GE(exact_bound(beliefs[row]) + 1e-5, distances[row].item<double>()) << "belief " << row;
  }
  // The estimate that `check` prints.
  const auto certificate = certify(*model, addition, beliefs.slice(0, 0, 100), 200, seeded(3));
  double expected = 0;
  for (std::int64_t row = 0; row < 100; ++row) expected += exact_bound(beliefs[row]) / 100;
  EXPECT_NEAR(certificate.mean, expected, 3 * certificate.margin + 1e-6);
  EXPECT_GT(certificate.mean, 1e-4) << "nothing to certify";
}

INSTANTIATE_TEST_SUITE_P(Digits, CertificateOfATransducer, testing::Values(1, 2));

TEST(ModelCheck, SampledDistanceIsTheDistance) {
  const auto problem = std::make_shared<toys::Addition>(1);
  const auto& addition = *problem;
  const auto model = trained(problem, 60);
  const auto exact = make_exact(addition);
  const auto beliefs = FixedDirichlet(addition.worlds(), 0.5).sample(50, seeded(2));
  const auto expected = total_variations(*model, addition.outputs(), *exact, beliefs).mean().item<double>();
  const auto distance = sampled_distance(*model, addition, *exact, beliefs, 400, seeded(3));
  EXPECT_GT(expected, 0.01);
  EXPECT_NEAR(distance.total_variation, expected, 0.1 * expected + 0.002);
  EXPECT_GT(distance.divergence, 0);
}

torch::Tensor some_worlds(const Problem& problem) {
  return sample_worlds(uniform_beliefs(100, problem.worlds()), seeded(1));
}

TEST(ModelCheck, TellsAnExploitableModel) {
  const auto problem = std::make_shared<toys::Addition>(2);
  const auto& addition = *problem;
  EXPECT_FALSE(check_exploits(*trained(problem, 400), addition, some_worlds(addition)).exploitable());
  // One that rewards not knowing: it predicts anything at certain beliefs, and the outputs' own shares at uniform ones.
  EXPECT_TRUE(check_exploits(*trained(problem, 0), addition, some_worlds(addition)).exploitable());
}

TEST(ModelCheck, TheMostProbableExplanationOfATransducerIsTheExactOne) {
  const auto problem = std::make_shared<toys::Addition>(2);
  const auto& addition = *problem;
  const auto model = trained(problem, 600);
  const auto exact = make_exact(addition, {.method = "enumerate"});
  const auto beliefs = FixedDirichlet(addition.worlds(), 0.2).sample(100, seeded(5));
  const Context context(beliefs, apply(addition, sample_worlds(beliefs, seeded(6))));
  EXPECT_GE(mpe_agreement(*make_explanation(model, addition.worlds()), *exact, context, 16, nullptr), 0.97);
}

std::string bad_ones(const Problem& problem) {
  std::string names;
  for (const auto& finding : check_problem(problem)) {
    if (!finding.good) names += finding.name + " ";
  }
  return names;
}

// What the doctor says of the one thing that is wrong.
std::string verdict(const Problem& problem) {
  std::string words;
  for (const auto& finding : check_problem(problem)) {
    if (!finding.good) words += (words.empty() ? "" : "; ") + finding.name + ": " + finding.words;
  }
  return words;
}

// A pruner that forbids a little too much.
class Strict final : public Pruner {
 public:
  explicit Strict(std::shared_ptr<const Pruner> pruner) : pruner_(std::move(pruner)) {}
  void allow_outputs(Values partial, std::int64_t variable, Mask mask) const override {
    pruner_->allow_outputs(partial, variable, mask);
  }
  void allow_worlds(Values output, Values partial, std::int64_t variable, Mask mask) const override {
    pruner_->allow_worlds(output, partial, variable, mask);
    if (partial[0] == 3) mask[4] = false;
  }

 private:
  std::shared_ptr<const Pruner> pruner_;
};

// One that allows everything, and says that it is exact or that it is not.
class Lax final : public Pruner {
 public:
  explicit Lax(bool exact) : exact_(exact) {}
  void allow_outputs(Values, std::int64_t, Mask mask) const override { std::ranges::fill(mask, true); }
  void allow_worlds(Values, Values, std::int64_t, Mask mask) const override { std::ranges::fill(mask, true); }
  bool is_exact() const override { return exact_; }

 private:
  bool exact_;
};

class ProblemCheck : public testing::Test {
 protected:
  // Addition of two digits, which tells nothing of itself but what a test has it tell.
  const std::shared_ptr<const toys::Addition> honest_ = std::make_shared<toys::Addition>(1);
  const std::shared_ptr<const Problem> silent_ = with_facts(honest_, {});
};

TEST_F(ProblemCheck, FindsNothingWrongWithWhatIsRight) {
  EXPECT_EQ(bad_ones(*silent_), "");
  EXPECT_EQ(pruner_exact(check_problem(*silent_)), std::nullopt);
  for (const std::int64_t digits : {1, 2, 40}) {
    const toys::Addition addition(digits);
    EXPECT_EQ(bad_ones(addition), "");
    EXPECT_EQ(pruner_exact(check_problem(addition)), true);
  }
  EXPECT_EQ(bad_ones(toys::Addition(3, /*base=*/2)), "");
  EXPECT_EQ(bad_ones(toys::PairsThatDiffer(Space{3, 3, 2}, {{0, 1}, {1, 2}})), "");
  EXPECT_EQ(bad_ones(toys::CheapestWalk(3)), "");
  EXPECT_EQ(bad_ones(toys::CheapestWalk(3, /*any_ends=*/true)), "");
  EXPECT_EQ(bad_ones(*with(silent_, std::unique_ptr<Pruner>(std::make_unique<Lax>(false)))), "")
      << "a pruner may allow more where it says so";
}

TEST_F(ProblemCheck, FindsAFunctionThatIsNone) {
  std::atomic<std::int64_t> calls = 0;
  const auto random = make_problem(Space{10, 10}, Space{10}, [&](Values, MutableValues y) { y[0] = calls++ % 10; });
  EXPECT_EQ(bad_ones(*random), "deterministic ");
  const auto outside = make_problem(Space{3}, Space{2}, [](Values w, MutableValues y) { y[0] = w[0]; });
  EXPECT_EQ(bad_ones(*outside), "outputs ");
}

TEST_F(ProblemCheck, FindsAFalsePruner) {
  const auto strict =
      with(silent_, std::unique_ptr<Pruner>(std::make_unique<Strict>(honest_->facts().share<Pruner>())));
  EXPECT_EQ(bad_ones(*strict), "pruner ");
  EXPECT_EQ(pruner_exact(check_problem(*strict)), false);
  EXPECT_EQ(bad_ones(*with(silent_, std::unique_ptr<Pruner>(std::make_unique<Lax>(true)))), "pruner ");
  // On a problem too large for brute force, too.
  const auto large = std::make_shared<toys::Addition>(20);
  EXPECT_EQ(bad_ones(*with(with_facts(large, {}),
                           std::unique_ptr<Pruner>(std::make_unique<Strict>(large->facts().share<Pruner>())))),
            "pruner ");
}

TEST_F(ProblemCheck, FindsAFalseFormula) {
  if (!this_build().cadical) GTEST_SKIP() << "built without CaDiCaL";
  auto cnf = *honest_->facts().find<Cnf>();
  EXPECT_EQ(bad_ones(*with(silent_, cnf)), "");
  cnf.add({-cnf.world(0, 5)});
  EXPECT_EQ(bad_ones(*with(silent_, cnf)), "formula ");
  const auto& right = *honest_->facts().find<Cnf>();
  const auto extended = [&](const std::function<void(Cnf&)>& change) {
    auto changed = right;
    change(changed);
    return with(silent_, changed);
  };
  EXPECT_EQ(bad_ones(*extended([](Cnf& of) { of.fresh_variable(); })), "formula ") << "every world has two models";
  EXPECT_EQ(bad_ones(*extended([](Cnf& of) { of.add({of.world(0, 5), of.fresh_variable()}); })), "formula ");
  EXPECT_EQ(bad_ones(*extended([](Cnf& of) { of.add({}); })), "formula ") << "a contradiction";
  auto outside = right.clauses();
  outside.push_back({right.variables() + 1});
  EXPECT_EQ(bad_ones(*with(silent_, Cnf(right.encoding(), right.variables(), outside))), "formula ");
  auto changed = right;
  for (const int literal : {0, right.variables() + 1, -right.variables() - 1, std::numeric_limits<int>::min()}) {
    EXPECT_THROW(changed.add({1, literal}), UsageError) << literal;
  }
  EXPECT_TRUE(toys::names(verdict(*with(silent_, *toys::Addition(1, /*base=*/9).facts().find<Cnf>())), {"formula"}));
  EXPECT_TRUE(toys::names(verdict(*with(silent_, *toys::Addition(2).facts().find<Cnf>())), {"formula"}));
}

TEST_F(ProblemCheck, FindsAnAutomatonOfAnotherFunction) {
  const auto& right = *honest_->facts().find<Automaton>();
  EXPECT_EQ(bad_ones(*with(silent_, right)), "");
  // The same but for one move: of the same shape.
  const Automaton wrong(right.reading(), right.states(), right.start(),
                        [&](std::int64_t kind, Values read, std::int64_t state) {
                          auto move = right.move(kind, kind == 0 ? 10 * read[0] + read[1] : 0, state);
                          if (kind == 0 && read[0] == 4 && read[1] == 7) move.emits = 2;  // and not 1
                          return move;
                        });
  const auto words = verdict(*with(silent_, wrong));
  EXPECT_TRUE(toys::names(words, {"automaton", "(4, 7)"}));

  const auto of_two_digits = verdict(*with(silent_, *toys::Addition(2).facts().find<Automaton>()));
  EXPECT_TRUE(toys::names(of_two_digits, {"automaton"}));
  const auto of_base_nine = verdict(*with(silent_, *toys::Addition(1, /*base=*/9).facts().find<Automaton>()));
  EXPECT_TRUE(toys::names(of_base_nine, {"automaton"}));
}

TEST_F(ProblemCheck, FindsAReadingOrderOfOtherSpaces) {
  EXPECT_EQ(bad_ones(*with(silent_, *honest_->facts().find<ReadingOrder>())), "");
  EXPECT_TRUE(toys::names(verdict(*with(silent_, *toys::Addition(1, /*base=*/9).facts().find<ReadingOrder>())),
                          {"reading order"}));
  EXPECT_EQ(bad_ones(*with(silent_, *toys::Addition(2).facts().find<ReadingOrder>())), "reading order ");
  EXPECT_EQ(bad_ones(*with(silent_, ReadingOrder::all_then_emit(Space{10}, Space{2, 10}))), "reading order ");
  // A pruner that is right does not hide it, nor stumble over it.
  EXPECT_EQ(bad_ones(*with(honest_, *toys::Addition(2).facts().find<ReadingOrder>())), "reading order ");
}

TEST_F(ProblemCheck, FindsPairsThatAreNone) {
  const auto pairs = std::make_shared<toys::PairsThatDiffer>(Space{3, 3, 3}, std::vector<VariablePair>{{0, 1}, {1, 2}});
  const auto told = [&](std::vector<VariablePair> claimed) {
    return verdict(*with(with_facts(pairs, {}), VariablePairs{std::move(claimed)}));
  };
  EXPECT_EQ(told({{0, 1}, {1, 2}}), "");
  EXPECT_TRUE(toys::names(told({{0, 1}}), {"pairs", "1", "2"}));
  EXPECT_TRUE(toys::names(told({{0, 1}, {1, 3}}), {"pairs", "output 1", "variable 3", "3"}));
  EXPECT_TRUE(toys::names(told({{-1, 1}, {1, 2}}), {"pairs", "output 0", "variable -1", "3"}));
  // Nine outputs, each of the same two variables, all said to be of two others: one is found out, whatever is drawn.
  const auto same = std::make_shared<toys::PairsThatDiffer>(Space::uniform(4, 5), std::vector<VariablePair>(9, {0, 1}));
  const auto words = verdict(*with(with_facts(same, {}), VariablePairs{std::vector<VariablePair>(9, {2, 3})}));
  EXPECT_TRUE(toys::names(words, {"pairs", "2", "3"}));
}

TEST_F(ProblemCheck, FindsAPropagationThatRulesOutWorlds) {
  const auto pairs = std::make_shared<toys::PairsThatDiffer>(Space{3, 3, 3}, std::vector<VariablePair>{{0, 1}, {1, 2}});
  const auto honest = pairs->facts().share<PropagationOf>();
  const auto turned = with(with_facts(pairs, {}), PropagationOf{[honest](Values output) {
                             std::vector<std::int64_t> opposite;
                             for (const auto value : output) opposite.push_back(1 - value);
                             return honest->make(opposite);
                           }});
  EXPECT_EQ(bad_ones(*turned), "propagation ");
}

TEST_F(ProblemCheck, FindsValuesThatAreNoNames) {
  EXPECT_EQ(bad_ones(*with(silent_, ValuesAreNames{})), "names ");
  const auto pairs = std::make_shared<toys::PairsThatDiffer>(Space{3, 3, 3}, std::vector<VariablePair>{{0, 1}, {1, 2}});
  EXPECT_EQ(bad_ones(*with(pairs, ValuesAreNames{})), "");
  const auto uneven = std::make_shared<toys::PairsThatDiffer>(Space{3, 2}, std::vector<VariablePair>{{0, 1}});
  EXPECT_TRUE(toys::names(verdict(*with(uneven, ValuesAreNames{})), {"names"}));
}

TEST_F(ProblemCheck, FindsWalksThatAreNone) {
  const auto walks = std::make_shared<toys::CheapestWalk>(3);
  const auto told = [&](const GridWalk& walk) { return verdict(*with(with_facts(walks, {}), walk)); };
  EXPECT_EQ(told(walks->walk()), "");
  EXPECT_TRUE(toys::names(told({.side = 4, .start = 0, .goal = 15}), {"walk", "16", "9"}));
  EXPECT_TRUE(toys::names(told({.side = 3, .start = 0, .goal = 7}), {"walk"}));
  EXPECT_TRUE(toys::names(told({.side = 3, .start = 1, .goal = 8}), {"walk"}));
}

TEST_F(ProblemCheck, FindsAnAskedOutputThatIsNoneAndATraceThatIsNoFunction) {
  EXPECT_EQ(bad_ones(*with(silent_, AskedOutput{{0, 9}})), "");
  EXPECT_TRUE(
      toys::names(verdict(*with(silent_, AskedOutput{{0, 10}})), {"asked output", "variable 1", "10", "0", "9"}));
  EXPECT_EQ(bad_ones(*with(silent_, AskedOutput{{0}})), "asked output ");
  std::int64_t calls = 0;
  const auto changing = [&](PointRows worlds) { return Points(worlds.size(), 1, ++calls); };
  EXPECT_EQ(bad_ones(*with(silent_, Trace{changing})), "trace ");
  const auto short_of_rows = [](PointRows worlds) { return Points(worlds.size() - 1, 1); };
  EXPECT_EQ(bad_ones(*with(silent_, Trace{short_of_rows})), "trace ");
}

TEST_F(ProblemCheck, FindsAScoreThatContradictsTheFunction) {
  const auto none = [](PointRows, PointRows outputs) { return std::vector<float>(as_size(outputs.size())); };
  const auto honest = [](PointRows, PointRows outputs, PointRows wanted) {
    std::vector<float> differ;
    for (std::int64_t row = 0; row < outputs.size(); ++row) {
      differ.push_back(std::ranges::equal(outputs[row], wanted[row]) ? 0.0F : 1.0F);
    }
    return differ;
  };
  EXPECT_EQ(bad_ones(*with(silent_, Score{.regret = none, .distance = honest})), "");
  EXPECT_EQ(bad_ones(*with(silent_, Score{})), "");
  // It says of c's own output that it is worse, wherever a carry is.
  const auto worse = [](PointRows, PointRows outputs) {
    std::vector<float> carries;
    for (std::int64_t row = 0; row < outputs.size(); ++row) carries.push_back(static_cast<float>(outputs[row][0]));
    return carries;
  };
  const auto dear = [&](PointRows worlds, PointRows outputs, PointRows) { return worse(worlds, outputs); };
  EXPECT_TRUE(toys::names(verdict(*with(silent_, Score{.regret = worse})), {"score"}));
  EXPECT_TRUE(toys::names(verdict(*with(silent_, Score{.distance = dear})), {"score"}));
}

TEST_F(ProblemCheck, FindsKnownVariablesThatAreNoneOrGetNoValuesOfTheirs) {
  const auto knows = [&](std::int64_t variable, std::int64_t below) {
    const auto draw = [below](Random& random, MutableValues values) {
      values[0] = static_cast<std::int64_t>(random.below(static_cast<std::size_t>(below)));
    };
    return verdict(*with(silent_, KnownVariables{{variable}, draw}));
  };
  EXPECT_EQ(knows(0, silent_->worlds().domain(0)), "");
  EXPECT_TRUE(toys::names(knows(0, silent_->worlds().domain(0) + 1), {"known variables", "variable 0"}));
  EXPECT_TRUE(toys::names(knows(99, 1), {"known variables", "99"}));
}

}  // namespace
}  // namespace anesi
