// Knowledge and Predictor, whichever exact method is behind them, beside the oracle on random problems: losses of
// batches of labels of every kind, their gradients, and everything that a Predictor answers.
#include <gtest/gtest.h>

#include "anesi/predict/predictor.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/random_problems.h"
#include "anesi/testing/random_seed.h"
#include "anesi/train/knowledge.h"

namespace anesi {
namespace {

using toys::Chances;
using toys::Label;
using toys::LogBelief;
using toys::Oracle;

constexpr int kProblems = 300;
constexpr std::int64_t kRows = 4;
constexpr double kNear = 1e-9;

class Asked final : public Perception {
 public:
  torch::Tensor forward(const torch::Tensor& inputs) override { return inputs; }
};

struct Case {
  std::string name;
  Knowledge knowledge;
};

std::vector<Case> random_cases(Chances& chances) {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, const std::shared_ptr<const Problem>& problem, auto learn) {
    cases.push_back({name, Knowledge(problem, 1)});
    learn(cases.back().knowledge);
  };
  const auto by = [](const char* method) { return [=](Knowledge& know) { know.learn_exactly({.method = method}); }; };
  const auto kind = chances.between(0, 3);
  if (kind == 0) {
    const auto machine = std::make_shared<toys::RandomMachine>(static_cast<std::uint64_t>(chances.between(0, 1 << 30)));
    add("automaton", machine, by("automaton"));
    add("circuit", machine, by("circuit"));
    add("conditioned", machine, by("conditioned"));
    add("what suits", machine, [](Knowledge& know) { know.learn_through_what_suits(); });
  } else if (kind == 1) {
    add("enumeration", toys::random_function(chances), by("enumerate"));
  } else if (kind == 2) {
    add("tables", toys::random_tables(chances, /*apart=*/true), [](Knowledge& know) { know.learn_through("tables"); });
  } else {
    const auto constraint = toys::random_constraint(chances);
    add("constraint by circuit", constraint, by("circuit"));
    add("constraint by enumeration", constraint, by("enumerate"));
  }
  return cases;
}

class KnowledgeBesideTheOracle {
 public:
  KnowledgeBesideTheOracle(Knowledge& knowledge, const Oracle& oracle, Chances& chances)
      : knowledge_(knowledge), oracle_(oracle), worlds_(knowledge.problem->worlds()) {
    logits_ = torch::zeros({kRows, worlds_.variables(), worlds_.largest_domain()}, torch::kFloat64);
    for (std::int64_t row = 0; row < kRows; ++row) {
      auto belief = toys::random_log_belief(chances, worlds_);
      for (std::size_t i = 0; i < belief.size(); ++i) {
        for (std::size_t v = 0; v < belief[i].size(); ++v) {
          // Beliefs are probabilities here, and what is too small for one is none.
          if (belief[i][v] < -700) belief[i][v] = kLogOfZero;
          logits_[row][static_cast<std::int64_t>(i)][static_cast<std::int64_t>(v)] = belief[i][v];
        }
        logits_[row][static_cast<std::int64_t>(i)].slice(0, std::ssize(belief[i])).fill_(kLogOfZero);
      }
      beliefs_.push_back(std::move(belief));
    }
  }

  // One kind of label in a batch: outputs, parts of worlds with outputs, or worlds alone.
  void loss(Chances& chances) const {
    std::vector<Label> labels;
    const bool knows_worlds = chances.chance(0.5), knows_outputs = !knows_worlds || chances.chance(0.7);
    for (std::int64_t row = 0; row < kRows; ++row) {
      auto label = toys::random_label(chances, oracle_, knowledge_.problem->outputs());
      const auto& world = oracle_.worlds()[as_size(chances.between(0, std::ssize(oracle_.worlds()) - 1))];
      if (!knows_worlds) label.world.clear();
      if (knows_worlds && label.world.empty()) label.world = world.world;
      if (!knows_outputs) label.output.clear();
      if (knows_outputs && label.output.empty()) label.output = world.output;
      if (label.output.empty()) label.holds = true;
      labels.push_back(std::move(label));
    }
    Observations seen;
    const auto rows_of = [&](const auto& part) {
      std::vector<torch::Tensor> rows;
      for (const auto& label : labels) rows.push_back(tensor_of(part(label)));
      return torch::stack(rows);
    };
    if (knows_outputs) {
      seen.outputs = rows_of([](const Label& label) { return Values(label.output); });
      seen.holds = torch::ones({kRows}, torch::kBool);
      for (std::int64_t row = 0; row < kRows; ++row) seen.holds[row] = labels[as_size(row)].holds;
    }
    if (knows_worlds) seen.worlds = rows_of([](const Label& label) { return Values(label.world); });

    double expected = 0;
    for (std::int64_t row = 0; row < kRows; ++row) {
      expected -= oracle_.log_prob(beliefs_[as_size(row)], labels[as_size(row)]) / kRows;
    }
    const auto logits = logits_.clone().requires_grad_();
    if (std::isinf(expected)) {
      EXPECT_TRUE(is_impossible([&] { return knowledge_.loss->loss(logits.softmax(2), seen); }));
      return;
    }
    const auto found = knowledge_.loss->loss(logits.softmax(2), seen);
    ASSERT_NEAR(found.item<double>(), expected, kNear * std::max(1.0, std::abs(expected)));
    found.backward();
    for (std::int64_t row = 0; row < kRows; ++row) {
      const auto gradient = oracle_.gradient(beliefs_[as_size(row)], labels[as_size(row)]);
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        for (std::size_t v = 0; v < gradient[i].size(); ++v) {
          const auto slope = logits.grad()[row][static_cast<std::int64_t>(i)][static_cast<std::int64_t>(v)];
          ASSERT_NEAR(slope.item<double>(), -gradient[i][v] / kRows, kNear)
              << "variable " << i << ": " << toys::told(beliefs_[as_size(row)], labels[as_size(row)]);
        }
      }
    }
  }

  void answers(Chances& chances) const {
    const Predictor predictor({.problem = knowledge_.problem,
                               .perception = std::make_shared<Asked>(),
                               .model = knowledge_.model,
                               .options = {}});
    const auto beliefs = logits_.softmax(2);
    std::vector<torch::Tensor> rows;
    for (std::int64_t row = 0; row < kRows; ++row) {
      const auto ranked = oracle_.ranked_outputs(beliefs_[as_size(row)]);
      rows.push_back(tensor_of(ranked[as_size(chances.between(0, std::ssize(ranked) - 1))].values));
    }
    const auto outputs = torch::stack(rows);
    const auto marginals = predictor.marginals(beliefs, outputs);
    const auto best = predictor.most_probable_worlds(beliefs, outputs);
    const auto drawn = predictor.sample(beliefs, outputs, 3, seeded(1));
    const auto predictions = predictor.predict(beliefs, 3);
    for (std::int64_t row = 0; row < kRows; ++row) {
      const auto& belief = beliefs_[as_size(row)];
      const Label label{.output = values_of(outputs[row])};
      const auto expected = oracle_.marginals(belief, label);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        for (std::size_t v = 0; v < expected[i].size(); ++v) {
          const auto share = marginals[row][static_cast<std::int64_t>(i)][static_cast<std::int64_t>(v)];
          ASSERT_NEAR(share.item<double>(), expected[i][v], kNear);
        }
      }
      const auto ranked = oracle_.ranked_worlds(belief, label);
      ASSERT_NEAR(Oracle::log_prob_of_world(belief, values_of(best[row])), ranked[0].log_prob, 1e-7);
      for (std::int64_t draw = 0; draw < 3; ++draw) expect_behind(values_of(drawn[row][draw]), belief, label);
      const auto total = oracle_.log_prob(belief, label);
      if (predictor.explains_by() == ExplainedBy::kModel) {
        const auto why = predictor.explain(beliefs.slice(0, row, row + 1), {.output = label.output, .top = 4});
        ASSERT_EQ(why.worlds.size(), std::min<std::size_t>(4, ranked.size()));
        for (std::size_t place = 0; place < why.worlds.size(); ++place) {
          ASSERT_NEAR(why.worlds[place].probability, std::exp(ranked[place].log_prob - total), kNear);
          expect_behind(why.worlds[place].world, belief, label);
        }
      }
      for (std::int64_t place = 0; place < predictions.outputs.size(1); ++place) {
        const auto probability = predictions.probability[row][place].item<double>();
        if (probability == 0) continue;
        const Label predicted{.output = values_of(predictions.outputs[row][place])};
        ASSERT_NEAR(probability, std::exp(oracle_.log_prob(belief, predicted)), kNear) << "predicted";
      }
    }
  }

 private:
  void expect_behind(const std::vector<std::int64_t>& world, const LogBelief& belief, const Label& label) const {
    const auto found = std::ranges::find(oracle_.worlds(), world, &Oracle::World::world);
    ASSERT_TRUE(found != oracle_.worlds().end() && Oracle::gives(*found, label));
    ASSERT_GT(Oracle::log_prob_of_world(belief, world), kLogOfZero);
  }
  template <typename Ask>
  static bool is_impossible(Ask ask) {
    try {
      return ask().detach().isinf().template item<bool>();
    } catch (const Error&) {
      return true;
    }
  }

  Knowledge& knowledge_;
  const Oracle& oracle_;
  Space worlds_;
  torch::Tensor logits_;  // logarithms of the beliefs, [rows, worlds, values]
  std::vector<LogBelief> beliefs_;
};

TEST(Answers, OfKnowledgeAndPredictorAreTheOracles) {
  const toys::RandomSeed seed;
  for (int index = 0; index < kProblems; ++index) {
    Chances chances(seed + 7919 * static_cast<std::uint64_t>(index));
    for (auto& [name, knowledge] : random_cases(chances)) {
      SCOPED_TRACE(testing::Message() << "problem " << index << " by " << name);
      const Oracle oracle(*knowledge.problem);
      const KnowledgeBesideTheOracle beside(knowledge, oracle, chances);
      beside.loss(chances);
      beside.answers(chances);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Answers, OfNoExamplesAreEmpty) {
  Chances chances(1);
  for (auto& [name, knowledge] : random_cases(chances)) {
    SCOPED_TRACE(name);
    const Predictor predictor({.problem = knowledge.problem,
                               .perception = std::make_shared<Asked>(),
                               .model = knowledge.model,
                               .options = {}});
    const auto& worlds = knowledge.problem->worlds();
    const auto beliefs = torch::zeros({0, worlds.variables(), worlds.largest_domain()}, torch::kFloat64);
    const auto outputs = torch::zeros({0, knowledge.problem->outputs().variables()}, torch::kInt64);
    EXPECT_EQ(predictor.predict(beliefs, 2).outputs.size(0), 0);
    EXPECT_EQ(predictor.marginals(beliefs, outputs).sizes(), beliefs.sizes());
    EXPECT_EQ(predictor.most_probable_worlds(beliefs, outputs).size(0), 0);
    EXPECT_EQ(predictor.sample(beliefs, outputs, 3, seeded(1)).size(0), 0);
  }
}

}  // namespace
}  // namespace anesi
