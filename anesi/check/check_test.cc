#include <gtest/gtest.h>

#include <atomic>

#include "anesi/check/model_check.h"
#include "anesi/check/problem_check.h"
#include "anesi/core/beliefs.h"
#include "anesi/core/seeded.h"
#include "anesi/exact/enumerate.h"
#include "anesi/exact/exact_model.h"
#include "anesi/losses/amortized.h"
#include "anesi/models/transducer.h"
#include "anesi/priors/certain.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/tasks/mnist_add/addition.h"
#include "anesi/tasks/visual_sudoku/sudoku.h"
#include "anesi/tasks/warcraft/path_planning.h"

namespace anesi {
namespace {

// A transducer that is trained a little: neither exact nor hopeless.
std::shared_ptr<Transducer> trained(const Addition& addition, int steps) {
  torch::manual_seed(4);
  auto model = std::make_shared<Transducer>(addition.outputs(), addition.reading_order(), TransducerOptions{});
  AmortizedOptions options;
  options.schedule = {.lr = 0.05, .shape = "cosine"};
  options.samples = 64;
  AmortizedLoss loss(addition, {model, nullptr}, std::make_unique<CertainBeliefs>(addition.worlds()), options, steps,
                     seeded(1));
  for (int step = 0; step < steps; ++step) loss.update();
  return model;
}

class CertificateOfATransducer : public testing::TestWithParam<std::int64_t> {};

TEST_P(CertificateOfATransducer, HoldsForEveryOneOfAThousandBeliefs) {
  const Addition addition(GetParam());
  const auto model = trained(addition, 400);
  const auto beliefs = FixedDirichlet(addition.worlds(), 0.2).sample(1000, seeded(2));
  const auto distances = total_variations(*model, addition.outputs(), *make_exact(addition), beliefs);
  // The expectation itself, by going through every world, not an estimate of it.
  const torch::NoGradGuard no_gradients;
  std::vector<std::int64_t> values;
  addition.worlds().for_each_point([&](Values world) { values.insert(values.end(), world.begin(), world.end()); });
  const auto worlds = torch::tensor(values).view({-1, addition.worlds().variables()});
  const auto errors = -model->log_prob(certain_beliefs(worlds, addition.worlds()), addition.apply_batch(worlds))
                           .to(torch::kFloat64)
                           .expm1();
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
  const Addition addition(1);
  const auto model = trained(addition, 60);
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
  const Addition addition(2);
  EXPECT_FALSE(check_exploits(*trained(addition, 400), addition, some_worlds(addition)).exploitable());
  // One that rewards not knowing: it predicts anything at certain beliefs, and the outputs' own shares at uniform ones.
  EXPECT_TRUE(check_exploits(*trained(addition, 0), addition, some_worlds(addition)).exploitable());
}

TEST(ModelCheck, TheMostProbableExplanationOfATransducerIsTheExactOne) {
  const Addition addition(2);
  const auto model = trained(addition, 600);
  const auto exact = make_enumeration(addition);
  const auto beliefs = FixedDirichlet(addition.worlds(), 0.2).sample(100, seeded(5));
  const Context context(beliefs, addition.apply_batch(sample_worlds(beliefs, seeded(6))));
  EXPECT_GE(mpe_agreement(*make_explanation(model, addition.worlds()), *exact, context, 16, nullptr), 0.97);
}

// c with one thing wrong with it.
class Faulty final : public Problem {
 public:
  bool random = false, strict_pruner = false, false_formula = false;

  const Space& worlds() const override { return good_.worlds(); }
  const Space& outputs() const override { return good_.outputs(); }
  void apply(Values world, MutableValues output) const override {
    good_.apply(world, output);
    if (random) output[1] = calls_++ % 10;
  }
  std::unique_ptr<Pruner> pruner() const override {
    class Strict final : public Pruner {
     public:
      explicit Strict(std::unique_ptr<Pruner> pruner) : pruner_(std::move(pruner)) {}
      void allow_outputs(Values partial, std::int64_t variable, Mask mask) const override {
        pruner_->allow_outputs(partial, variable, mask);
      }
      void allow_worlds(Values output, Values partial, std::int64_t variable, Mask mask) const override {
        pruner_->allow_worlds(output, partial, variable, mask);
        if (partial[0] == 3) mask[4] = false;
      }

     private:
      std::unique_ptr<Pruner> pruner_;
    };
    return strict_pruner ? std::make_unique<Strict>(good_.pruner()) : nullptr;
  }
  std::optional<Cnf> cnf() const override {
    if (!false_formula) return std::nullopt;
    auto cnf = good_.cnf();
    cnf->add({-cnf->world(0, 5)});
    return cnf;
  }

 private:
  Addition good_{1};
  mutable std::atomic<std::int64_t> calls_ = 0;
};

std::string bad_ones(const Problem& problem) {
  std::string names;
  for (const auto& finding : check_problem(problem)) {
    if (!finding.good) names += finding.name + " ";
  }
  return names;
}

TEST(ProblemCheck, FindsWhatIsWrong) {
  Faulty problem;
  EXPECT_EQ(bad_ones(problem), "");
  problem.random = true;
  EXPECT_EQ(bad_ones(problem), "deterministic ");
  problem.random = false;
  problem.strict_pruner = true;
  EXPECT_EQ(bad_ones(problem), "pruner ");
  problem.strict_pruner = false;
  problem.false_formula = true;
  EXPECT_EQ(bad_ones(problem), "formula ");
  const auto outside = make_problem(Space{3}, Space{2}, [](Values w, MutableValues y) { y[0] = w[0]; });
  EXPECT_EQ(bad_ones(*outside), "outputs ");
  EXPECT_EQ(bad_ones(Addition(2)), "");
  EXPECT_EQ(bad_ones(Addition(40)), "");
  EXPECT_EQ(pruner_exact(check_problem(Addition(40))), true);
  EXPECT_EQ(bad_ones(PathPlanning(4)), "");  // its pruner may allow more, and says so
  for (const auto& finding : check_problem(Sudoku(4)))
    EXPECT_TRUE(finding.good) << finding.name << ": " << finding.words;
}

}  // namespace
}  // namespace anesi
