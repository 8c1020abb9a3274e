// What a predictor says, against sums over all worlds of a small problem.
#include "anesi/predict/predictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "anesi/core/asked_output.h"
#include "anesi/core/error.h"
#include "anesi/core/known_variables.h"
#include "anesi/core/pruner.h"
#include "anesi/core/score.h"
#include "anesi/models/architecture.h"
#include "anesi/models/automaton_inference.h"
#include "anesi/models/exact_model.h"
#include "anesi/perception/ensemble.h"
#include "anesi/predict/renaming.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/testing/lookup.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random.h"
#include "anesi/testing/threads.h"
#include "anesi/testing/toy_problems.h"
#include "anesi/testing/truth.h"

namespace anesi {
namespace {

using toys::Truth;
using Row = std::vector<std::int64_t>;

InferenceModel enumerated(const Problem& problem) { return make_exact_model(problem, {.method = "enumerate"}); }

// The same model, which keeps to itself that it is multilinear.
class Discreet final : public SequenceModel {
 public:
  explicit Discreet(std::shared_ptr<SequenceModel> model)
      : SequenceModel(model->space(), model->order()), model_(std::move(model)) {}
  torch::Tensor log_prob(const Context& context, const torch::Tensor& values) override {
    return model_->log_prob(context, values);
  }
  std::unique_ptr<Rollout> begin(const Context& context) override { return model_->begin(context); }

 private:
  std::shared_ptr<SequenceModel> model_;
};

// Addition of two digits in base three, exact inference by enumeration, and a perception that reads numbers.
class PredictorOfSums : public testing::Test {
 protected:
  Predictor predictor(InferenceModel model, PredictorOptions options = {}) const {
    return Predictor({.problem = addition_, .perception = perception_, .model = std::move(model), .options = options});
  }
  Predictor exact() const { return predictor(exact_); }
  // q predicts alone, and does not say that it is multilinear.
  Predictor discreet() const { return predictor({std::make_shared<Discreet>(exact_.prediction), nullptr}); }
  torch::Tensor belief(std::int64_t row) const { return beliefs_.slice(0, row, row + 1); }
  Truth truth(std::int64_t row) const { return {*addition_, beliefs_[row]}; }

  const toys::RandomSeed seed_;
  const std::shared_ptr<const Problem> addition_ = std::make_shared<toys::Addition>(1, /*base=*/3);
  const InferenceModel exact_ = enumerated(*addition_);
  // 0 and 1 are read right, 2 is taken for 1 more often than not.
  const std::shared_ptr<Perception> perception_ =
      std::make_shared<toys::Lookup>(torch::tensor({{3.0, 0.5, 0.0}, {0.2, 2.0, 0.5}, {0.0, 1.4, 1.0}}));
  const torch::Tensor beliefs_ = toys::random_beliefs(4, addition_->worlds(), 1, seeded(seed_));
  const torch::Tensor outputs_ = apply(*addition_, sample_worlds(beliefs_, seeded(seed_ + 1)));
};

TEST_F(PredictorOfSums, ReadsWhatPerceptionBelieves) {
  const auto beliefs = exact().beliefs(torch::tensor({{0.0F, 2.0F}}));
  EXPECT_TRUE(torch::allclose(beliefs[0][0], torch::tensor({3.0, 0.5, 0.0}).softmax(0).to(torch::kFloat32)));
  EXPECT_TRUE(torch::allclose(beliefs[0][1], torch::tensor({0.0, 1.4, 1.0}).softmax(0).to(torch::kFloat32)));
  EXPECT_FALSE(beliefs.requires_grad());
}

TEST_F(PredictorOfSums, PredictsTheMostLikelyOutputsWithTheirProbabilities) {
  const auto predictions = exact().predict(beliefs_, /*top=*/5);  // 0 to 4; 5 is no sum
  ASSERT_EQ(predictions.outputs.sizes(), (torch::IntArrayRef{4, 5, 2}));
  EXPECT_TRUE(torch::equal(predictions.worlds, beliefs_.argmax(2)));
  EXPECT_TRUE(torch::equal(predictions.symbolic, apply(*addition_, beliefs_.argmax(2))));
  EXPECT_FALSE(predictions.asked.defined() || predictions.holds.defined());
  for (std::int64_t row = 0; row < 4; ++row) {
    double total = 0;
    for (std::int64_t place = 0; place < 5; ++place) {
      const auto expected = truth(row).of_output(predictions.outputs[row][place]);
      EXPECT_NEAR(predictions.probability[row][place].item<double>(), expected, 1e-5);
      if (place > 0) {
        EXPECT_LE(expected, predictions.probability[row][place - 1].item<double>() + 1e-5);
      }
      total += expected;
    }
    EXPECT_NEAR(total, 1, 1e-9) << "an output is missing or there twice";
  }
  EXPECT_EQ(exact().predict(beliefs_).outputs.size(1), 1);
}

TEST_F(PredictorOfSums, RefusesWhatAreNoBeliefs) {
  const auto asked = exact();
  EXPECT_THROW(asked.predict(beliefs_ * 2), Error);
  EXPECT_THROW(asked.predict(beliefs_.slice(1, 0, 1)), Error);
  EXPECT_THROW(asked.marginals(beliefs_.masked_fill(beliefs_ > 0, NAN), outputs_), Error);
}

TEST_F(PredictorOfSums, ExplainsByTheWorldsOfTheModel) {
  for (std::int64_t row = 0; row < 4; ++row) {
    const auto output = values_of(outputs_[row]);
    const auto explanation = exact().explain(belief(row), {.output = output, .top = 9});
    const auto possible = truth(row).giving(outputs_[row]);
    EXPECT_EQ(explanation.by, ExplainedBy::kModel);
    EXPECT_EQ(explanation.output, output);
    EXPECT_EQ(explanation.read, values_of(beliefs_[row].argmax(1)));
    EXPECT_EQ(explanation.read_output, apply_to(*addition_, explanation.read));
    EXPECT_NEAR(explanation.probability, possible.total(), 1e-6);
    const auto worlds = possible.ranked_worlds(), prob = possible.ranked_prob();
    const auto count = (prob > 0).sum().item<std::int64_t>();
    ASSERT_EQ(static_cast<std::int64_t>(explanation.worlds.size()), count);
    for (std::int64_t place = 0; place < count; ++place) {
      const auto& explained = explanation.worlds[static_cast<std::size_t>(place)];
      EXPECT_EQ(explained.world, values_of(worlds[place]));
      EXPECT_NEAR(explained.probability, prob[place].item<double>(), 1e-5);
      EXPECT_NEAR(explained.belief, prob[place].item<double>() * possible.total(), 1e-6);
      EXPECT_TRUE(explained.satisfied);
      Row changed;
      for (std::size_t variable = 0; variable < 2; ++variable) {
        if (explained.world[variable] != explanation.read[variable]) {
          changed.push_back(static_cast<std::int64_t>(variable));
        }
      }
      EXPECT_EQ(explained.changed, changed);
    }
    EXPECT_LE(exact().explain(belief(row), {.output = output, .top = 1}).worlds.size(), 1U);
    // Of nothing in particular: the output that is predicted.
    EXPECT_EQ(exact().explain(belief(row)).output, values_of(exact().predict(belief(row)).outputs[0][0]));
  }
}

TEST_F(PredictorOfSums, ExplainsByTheMostProbableWorldThatASearchFinds) {
  const auto asked = discreet();
  EXPECT_EQ(asked.explains_by(), ExplainedBy::kSearch);
  for (std::int64_t row = 0; row < 4; ++row) {
    const auto explanation = asked.explain(belief(row), {.output = values_of(outputs_[row])});
    const auto possible = truth(row).giving(outputs_[row]);
    EXPECT_EQ(explanation.by, ExplainedBy::kSearch);
    ASSERT_EQ(explanation.worlds.size(), 1U);
    EXPECT_EQ(explanation.worlds[0].world, values_of(possible.ranked_worlds()[0]));
    const auto best = possible.ranked_prob()[0].item<double>() * possible.total();
    EXPECT_NEAR(explanation.worlds[0].belief, best, 1e-6);
    EXPECT_NEAR(explanation.gap, std::log(truth(row).ranked_prob()[0].item<double>() / best), 1e-6);
    EXPECT_TRUE(explanation.proven && explanation.worlds[0].satisfied);
    EXPECT_NEAR(explanation.probability, possible.total(), 1e-6);
  }
  // 1 and 2 would be five, which is no sum.
  const auto none = asked.explain(belief(0), {.output = {1, 2}});
  EXPECT_TRUE(none.worlds.empty());
  EXPECT_TRUE(std::isinf(none.gap));
}

// How much log q(y|P) changes as probability moves to a value: with exact inference, q(y|w_i = v) / q(y) - 1.
TEST_F(PredictorOfSums, ExplainsByTheInfluenceOfEachVariable) {
  for (std::int64_t row = 0; row < 4; ++row) {
    const auto explanation =
        exact().explain(belief(row), {.output = values_of(outputs_[row]), .by = ExplainedBy::kInfluence});
    EXPECT_EQ(explanation.by, ExplainedBy::kInfluence);
    EXPECT_TRUE(explanation.worlds.empty());
    ASSERT_EQ(explanation.influence.size(), 2U);
    for (std::int64_t variable = 0; variable < 2; ++variable) {
      double most = 0;
      for (std::int64_t value = 0; value < 3; ++value) {
        auto known = torch::full({2}, kUnset, torch::kInt64);
        known[variable] = value;
        const auto fixed = truth(row).where(known);
        most = std::max(
            most, std::abs(fixed.of_output(outputs_[row]) / fixed.total() / truth(row).of_output(outputs_[row]) - 1));
      }
      EXPECT_NEAR(explanation.influence[static_cast<std::size_t>(variable)], most, 1e-5 * (1 + most));
    }
  }
}

TEST_F(PredictorOfSums, FactsChooseHowItExplains) {
  const auto by = [&](const Facts& facts, const InferenceModel& model) {
    return Predictor({.problem = with_facts(addition_, facts), .perception = perception_, .model = model})
        .explains_by();
  };
  const InferenceModel predicts{exact_.prediction, nullptr};
  class Unsure final : public Pruner {
   public:
    void allow_outputs(Values, std::int64_t, Mask mask) const override { std::ranges::fill(mask, true); }
    void allow_worlds(Values, Values, std::int64_t, Mask mask) const override { std::ranges::fill(mask, true); }
    bool is_exact() const override { return false; }
  };
  const auto scored = [] { return Facts().with(Score{}); };
  const auto& known = addition_->facts();
  EXPECT_EQ(by({}, exact_), ExplainedBy::kModel);
  EXPECT_EQ(by({}, predicts), ExplainedBy::kSearch);
  EXPECT_EQ(by(scored(), predicts), ExplainedBy::kInfluence) << "many worlds stand behind an output";
  EXPECT_EQ(by(scored().with(std::unique_ptr<Pruner>(std::make_unique<Unsure>())), predicts), ExplainedBy::kInfluence);
  EXPECT_EQ(by(scored().with(known.share<Pruner>()), predicts), ExplainedBy::kSearch);
  EXPECT_EQ(by(scored().with(known.share<Automaton>()), predicts), ExplainedBy::kSearch);
  EXPECT_EQ(by(scored().with(PropagationOf{}), predicts), ExplainedBy::kSearch);
  EXPECT_EQ(by(scored(), exact_), ExplainedBy::kModel);
  // A q that cannot choose an output has none to hang on variables.
  const auto silent = models_of(make_automaton_inference(known.share<Automaton>()), addition_->outputs(), false);
  EXPECT_EQ(by(scored(), silent), ExplainedBy::kSearch);
}

TEST_F(PredictorOfSums, RefusesToExplainWhatIsNoOutputOrWhatItCannot) {
  const auto asked = exact();
  const auto refusal = [&](const Row& output) {
    return toys::message_of([&] { asked.explain(belief(0), {.output = output}); });
  };
  EXPECT_TRUE(toys::names(refusal({0, 3}), {"output", "variable 1", "3", "0", "2"}));
  EXPECT_TRUE(toys::names(refusal({0}), {"output", "1", "2"}));
  EXPECT_THROW(asked.explain(beliefs_), UsageError) << "more than one belief";
  EXPECT_THROW(discreet().explain(belief(0), {.by = ExplainedBy::kModel}), UsageError);
  EXPECT_THROW(discreet().explain_jointly(belief(0), 1), UsageError);
  EXPECT_FALSE(asked.possible(Row{1, 2}));
  EXPECT_TRUE(asked.possible(Row{1, 1}));
}

TEST_F(PredictorOfSums, RanksPairsOfOutputAndWorldByTheWorldsProbability) {
  const auto pairs = exact().explain_jointly(belief(0), 9);
  ASSERT_EQ(pairs.size(), 9U);
  for (std::size_t place = 0; place < 9; ++place) {
    EXPECT_EQ(pairs[place].world, values_of(truth(0).ranked_worlds()[static_cast<std::int64_t>(place)]));
    EXPECT_EQ(pairs[place].output, apply_to(*addition_, pairs[place].world));
    EXPECT_NEAR(pairs[place].probability, truth(0).ranked_prob()[static_cast<std::int64_t>(place)].item<double>(),
                1e-5);
    EXPECT_TRUE(pairs[place].satisfied);
  }
}

TEST_F(PredictorOfSums, RecordsChoicesThatMultiplyToTheProbabilityOfTheWorld) {
  for (const auto& world : points_of(addition_->worlds()).unbind(0)) {
    const auto output = apply_to(*addition_, values_of(world));
    const auto steps = exact().record(belief(0), output, values_of(world));
    ASSERT_EQ(steps.size(), 4U);
    double product = 1;
    for (std::size_t step = 0; step < 4; ++step) {
      EXPECT_EQ(steps[step].output, step < 2);
      const auto place = static_cast<std::size_t>(steps[step].variable);
      EXPECT_EQ(steps[step].chosen, step < 2 ? output[place] : values_of(world)[place]);
      product *= steps[step].probabilities[static_cast<std::size_t>(steps[step].chosen)];
    }
    EXPECT_NEAR(product, world_log_prob(belief(0), world.unsqueeze(0)).exp().item<double>(), 1e-5);
  }
}

TEST_F(PredictorOfSums, MarginalsAreThoseOfTheWorldsThatGiveTheOutput) {
  for (const auto& asked : {exact(), discreet()}) {
    const auto marginals = asked.marginals(beliefs_, outputs_);
    EXPECT_FALSE(marginals.requires_grad());
    for (std::int64_t row = 0; row < 4; ++row) {
      EXPECT_TRUE(torch::allclose(marginals[row], truth(row).giving(outputs_[row]).marginals(), 1e-9, 1e-12));
    }
  }
}

TEST_F(PredictorOfSums, AnImpossibleOutputHasNoMarginals) {
  auto impossible = outputs_.clone();
  impossible[1] = torch::tensor({1, 2});
  for (const auto& asked : {exact(), discreet()}) {
    const auto marginals = asked.marginals(beliefs_, impossible);
    EXPECT_TRUE((marginals[1] == 0).all().item<bool>()) << marginals[1];
    EXPECT_TRUE(torch::allclose(marginals[0], truth(0).giving(outputs_[0]).marginals(), 1e-9, 1e-12));
  }
}

// An approximate q has marginals too: by Bayes' rule with its own likelihoods.
TEST_F(PredictorOfSums, MarginalsOfANetworkFollowBayesRule) {
  torch::manual_seed(seed_);
  const auto asked = predictor(make_model(*addition_, "scan", /*explain=*/false, {"width=8"}));
  const auto beliefs = beliefs_.to(torch::kFloat32);
  const auto marginals = asked.marginals(beliefs, outputs_);
  const torch::NoGradGuard no_gradients;
  for (std::int64_t variable = 0; variable < 2; ++variable) {
    auto expected = torch::empty({4, 3}, torch::kFloat64);
    for (std::int64_t value = 0; value < 3; ++value) {
      auto sure = beliefs.clone();
      sure.select(1, variable) = torch::one_hot(torch::tensor(value), 3).to(torch::kFloat32);
      const auto likelihood = asked.model().prediction->log_prob(sure, outputs_).exp();
      expected.select(1, value) = likelihood * beliefs.select(1, variable).select(1, value);
    }
    expected = expected / expected.sum(1, /*keepdim=*/true);
    EXPECT_TRUE(torch::allclose(marginals.select(1, variable), expected, 1e-4, 1e-6));
  }
}

TEST_F(PredictorOfSums, SamplesFollowTheWorldsThatGiveTheOutput) {
  constexpr std::int64_t kSamples = 20000;
  // A belief and an output with three worlds behind it.
  const auto belief = torch::tensor({{{0.5, 0.3, 0.2}, {0.2, 0.2, 0.6}}}, torch::kFloat64);
  const auto output = torch::tensor({{0, 2}});
  const auto possible = Truth(*addition_, belief[0]).giving(output[0]);
  for (const auto& asked : {exact(), discreet(), predictor({exact_.prediction, nullptr})}) {
    const auto worlds = asked.sample(belief, output, kSamples, seeded(5));
    ASSERT_EQ(worlds.sizes(), (torch::IntArrayRef{1, kSamples, 2}));
    for (std::int64_t place = 0; place < 9; ++place) {
      const auto share = (worlds[0] == possible.worlds()[place]).all(1).to(torch::kFloat64).mean().item<double>();
      EXPECT_NEAR(share, possible.prob()[place].item<double>(), 0.015);
    }
  }
  // Rows keep their own beliefs and outputs.
  const auto many = exact().sample(beliefs_, outputs_, 50, seeded(6));
  EXPECT_TRUE(torch::equal(apply(*addition_, many.view({200, 2})), outputs_.repeat_interleave(50, 0)));
  EXPECT_THROW(discreet().sample(belief, torch::tensor({{1, 2}}), 1, seeded(5)), Error);
}

TEST_F(PredictorOfSums, ConditionsOnVariablesAndOutputs) {
  auto known = torch::full({4, 2}, kUnset, torch::kInt64);
  known[0][0] = 1;
  known[1][1] = 2;
  known[2][0] = 0;
  known[2][1] = 2;                   // and nothing of the last
  const auto output_of_them = [&] {  // that some world agrees with
    auto worlds = sample_worlds(beliefs_, seeded(seed_ + 2));
    return apply(*addition_, torch::where(known == kUnset, worlds, known));
  }();
  for (const auto& asked : {exact(), discreet()}) {
    const auto by_variables = asked.condition(beliefs_, {.worlds = known}, /*top=*/5);
    const auto by_output = asked.condition(beliefs_, {.outputs = output_of_them});
    const auto by_both = asked.condition(beliefs_, {.worlds = known, .outputs = output_of_them});
    for (std::int64_t row = 0; row < 4; ++row) {
      const auto all = truth(row), agree = all.where(known[row]), give = all.giving(output_of_them[row]),
                 both = agree.giving(output_of_them[row]);
      EXPECT_NEAR(by_variables.log_prob[row].item<double>(), std::log(agree.total()), 1e-9);
      EXPECT_TRUE(torch::allclose(by_variables.beliefs[row], agree.marginals(), 1e-9, 1e-12));
      EXPECT_NEAR(by_variables.predictions.probability[row].sum().item<double>(), 1, 1e-5);
      for (std::int64_t place = 0; place < 5; ++place) {
        const auto found = by_variables.predictions.probability[row][place].item<double>();
        if (found == 0) continue;  // no output is left
        EXPECT_NEAR(found, agree.of_output(by_variables.predictions.outputs[row][place]) / agree.total(), 1e-5);
      }
      EXPECT_NEAR(by_output.log_prob[row].item<double>(), std::log(give.total()), 1e-9);
      EXPECT_TRUE(torch::allclose(by_output.beliefs[row], give.marginals(), 1e-9, 1e-12));
      EXPECT_NEAR(by_both.log_prob[row].item<double>(), std::log(both.total()), 1e-9);
      EXPECT_TRUE(torch::allclose(by_both.beliefs[row], both.marginals(), 1e-9, 1e-12));
      EXPECT_TRUE(torch::equal(by_both.predictions.outputs[row][0], output_of_them[row]));
      EXPECT_EQ(by_both.predictions.probability[row][0].item<double>(), 1);
    }
    const auto nothing = asked.condition(beliefs_, {});
    EXPECT_TRUE((nothing.log_prob == 0).all().item<bool>());
    EXPECT_TRUE(torch::equal(nothing.beliefs, beliefs_));
  }
}

// All nine worlds as examples, each counted here by hand.
TEST_F(PredictorOfSums, EvaluationCountsWhatItSaysItCounts) {
  const auto worlds = points_of(addition_->worlds());
  const auto labels = apply(*addition_, worlds);
  const auto examples = tensor_examples(worlds.to(torch::kFloat32), labels, worlds);
  const auto beliefs = exact().beliefs(worlds.to(torch::kFloat32));
  const auto read = beliefs.argmax(2);
  const auto outputs = points_of(addition_->outputs());
  double symbolic = 0, neural = 0, nll = 0;
  auto confidence = torch::empty({9}, torch::kFloat64);
  auto right = torch::empty({9}, torch::kBool);
  for (std::int64_t row = 0; row < 9; ++row) {
    const Truth all(*addition_, beliefs[row]);
    symbolic += torch::equal(apply(*addition_, read.slice(0, row, row + 1))[0], labels[row]) ? 1 : 0;
    nll -= std::log(all.of_output(labels[row]));
    double best = 0;
    for (const auto& output : outputs.unbind(0)) {
      if (all.of_output(output) <= best) continue;
      best = all.of_output(output);
      right[row] = torch::equal(output, labels[row]);
    }
    confidence[row] = best;
    neural += right[row].item<bool>() ? 1 : 0;
  }
  const auto evaluation = exact().evaluate(*examples, {.explanations = 10});
  EXPECT_EQ(evaluation.examples, 9);
  EXPECT_DOUBLE_EQ(evaluation.symbolic, symbolic / 9);
  EXPECT_DOUBLE_EQ(evaluation.neural, neural / 9);
  EXPECT_DOUBLE_EQ(evaluation.per_variable, (read == worlds).to(torch::kFloat64).mean().item<double>());
  EXPECT_DOUBLE_EQ(evaluation.per_variable, 2.0 / 3) << "twos are taken for ones";
  EXPECT_NEAR(evaluation.nll, nll / 9, 1e-6);
  EXPECT_NEAR(evaluation.ece, expected_calibration_error(confidence, right), 1e-6);
  EXPECT_EQ(evaluation.accuracy, evaluation.symbolic);
  EXPECT_EQ(evaluation.sampled, 90);
  EXPECT_EQ(evaluation.satisfied, 1.0) << "exact inference explains with worlds that give the output";
  EXPECT_FALSE(evaluation.decided.has_value() || evaluation.ms_per_query.has_value());
  ASSERT_TRUE(evaluation.explanation.has_value());
  EXPECT_LT(symbolic, 9);
  EXPECT_GT(symbolic, 0);

  EXPECT_EQ(predictor(exact_, {.decide = Decide::kNeural}).evaluate(*examples).accuracy, evaluation.neural);
  const auto without_worlds = tensor_examples(worlds.to(torch::kFloat32), labels);
  EXPECT_TRUE(std::isnan(exact().evaluate(*without_worlds).per_variable));
  EXPECT_EQ(exact().evaluate(*without_worlds).symbolic, evaluation.symbolic);
  const Predictor unlearned({.problem = addition_, .perception = perception_, .model = exact_, .q_learned = false});
  const auto left_out = unlearned.evaluate(*examples);
  EXPECT_TRUE(std::isnan(left_out.neural) && std::isnan(left_out.nll) && std::isnan(left_out.ece));
  EXPECT_EQ(left_out.symbolic, evaluation.symbolic);
  EXPECT_TRUE(exact().evaluate(*examples, {.time_queries = true}).ms_per_query.has_value());
  EXPECT_EQ(exact().evaluate(*tensor_examples(torch::zeros({0, 2}), torch::zeros({0, 2}, torch::kInt64))).examples, 0);
}

TEST_F(PredictorOfSums, WhereLabelsTellWorldsAloneOnlyThoseAreScored) {
  const auto worlds = points_of(addition_->worlds());
  Observations labels;
  labels.worlds = worlds;
  const auto evaluation = exact().evaluate(*tensor_examples(worlds.to(torch::kFloat32), labels, worlds));
  EXPECT_DOUBLE_EQ(evaluation.per_variable, 2.0 / 3);
  EXPECT_TRUE(std::isnan(evaluation.symbolic) && std::isnan(evaluation.neural) && std::isnan(evaluation.nll));
}

// An output that does as well as c's own in the true world counts as right.
TEST_F(PredictorOfSums, OutputsThatAreAsGoodCountAsRight) {
  // One unit more or less does no harm.
  const auto tolerant = with(addition_, Score{.regret = [](PointRows worlds, PointRows outputs) {
                               std::vector<float> regrets;
                               for (std::int64_t row = 0; row < worlds.size(); ++row) {
                                 const auto world = worlds[row], output = outputs[row];
                                 const auto off = output[0] * 3 + output[1] -
                                                  std::accumulate(world.begin(), world.end(), std::int64_t{0});
                                 regrets.push_back(static_cast<float>(std::max<std::int64_t>(std::abs(off) - 1, 0)));
                               }
                               return regrets;
                             }});
  const Predictor asked({.problem = tolerant, .perception = perception_, .model = exact_});
  const auto worlds = points_of(addition_->worlds());
  const auto labels = apply(*addition_, worlds);
  const auto examples = tensor_examples(worlds.to(torch::kFloat32), labels, worlds);
  const auto read = apply(*addition_, exact().beliefs(worlds.to(torch::kFloat32)).argmax(2));
  const auto units = read.select(1, 0) * 3 + read.select(1, 1);
  const auto nearly = ((units - worlds.sum(1)).abs() <= 1).to(torch::kFloat64).mean().item<double>();
  EXPECT_DOUBLE_EQ(asked.evaluate(*examples).symbolic, nearly);
  EXPECT_GT(nearly, exact().evaluate(*examples).symbolic);
  EXPECT_GT(asked.evaluate(*examples).neural, exact().evaluate(*examples).neural);
  // Without the true worlds nobody can tell.
  EXPECT_EQ(asked.evaluate(*tensor_examples(worlds.to(torch::kFloat32), labels)).symbolic,
            exact().evaluate(*examples).symbolic);
}

TEST_F(PredictorOfSums, PruningIsByTheProblemsPrunerOrNotAtAll) {
  torch::manual_seed(seed_);
  const auto q = make_model(*addition_, "scan", /*explain=*/true, {"width=8"});
  const Predictor pruned({.problem = addition_, .perception = perception_, .model = q, .prunes = true});
  EXPECT_TRUE(pruned.prunes_symbolically());
  const auto beliefs = beliefs_.to(torch::kFloat32);
  for (const auto& world : pruned.explain(beliefs.slice(0, 0, 1), {.output = {0, 2}, .top = 9}).worlds) {
    EXPECT_TRUE(world.satisfied);
  }
  const auto drawn = pruned.sample(beliefs, outputs_, 20, seeded(1)).view({80, 2});
  EXPECT_TRUE(torch::equal(apply(*addition_, drawn), outputs_.repeat_interleave(20, 0)));
  EXPECT_THROW(Predictor({.problem = with_facts(addition_, {}), .perception = perception_, .model = q, .prunes = true}),
               UsageError);
}

// While an ensemble is refined its members learn one after another, and the whole is asked in between.
TEST_F(PredictorOfSums, PutsEveryPartOfPerceptionToRest) {
  const auto member = std::make_shared<toys::Lookup>(torch::eye(3)),
             other = std::make_shared<toys::Lookup>(torch::eye(3));
  const auto ensemble = std::make_shared<Ensemble>(std::vector<std::shared_ptr<Perception>>{member, other});
  ensemble->eval();
  other->train();
  const Predictor asked({.problem = addition_, .perception = ensemble, .model = exact_});
  EXPECT_FALSE(other->is_training());
  EXPECT_FALSE(exact_.prediction->is_training());
}

// Learned under the pruner, or told so by an option; and a problem without a pruner is not pruned.
TEST_F(PredictorOfSums, PrunesWhereAnOptionSaysSo) {
  const auto prunes = [&](const PredictorOptions& options, bool learned) {
    EXPECT_FALSE(prunes_by(*with_facts(addition_, {}), options, learned));
    return prunes_by(*addition_, options, learned);
  };
  EXPECT_FALSE(prunes({}, false));
  EXPECT_TRUE(prunes({}, true));
  EXPECT_TRUE(prunes({.prune = true}, false));
  EXPECT_TRUE(prunes({.decide = Decide::kConstrained}, false));
}

// In worlds only kUnset leaves a variable open: kNone ends an output, and is no value of a variable.
TEST_F(PredictorOfSums, ConditionsOnValuesOfVariablesAlone) {
  const auto asked = exact();
  const auto none = torch::tensor({{std::int64_t{0}, kNone}}).expand({4, -1}).contiguous();
  EXPECT_THROW(asked.condition(beliefs_, {.worlds = none}), UsageError);
  EXPECT_THROW(asked.condition(beliefs_, {.worlds = none - 2}), UsageError);
  const auto open = torch::tensor({{std::int64_t{0}, kUnset}}).expand({4, -1}).contiguous();
  const auto found = asked.condition(beliefs_, {.worlds = open});
  EXPECT_TRUE(torch::allclose(found.beliefs.select(1, 1), beliefs_.select(1, 1)));
}

// Three cells of three values that must all differ; the values are names, and labels say whether they do.
class PredictorOfPairs : public testing::Test {
 protected:
  PredictorOfPairs() {
    auto facts = pairs_->facts();
    facts.with(AskedOutput{{1, 1, 1}}).with(ValuesAreNames{});
    problem_ = with_facts(pairs_, facts);
    worlds_ = points_of(problem_->worlds());
    Observations labels(torch::ones({27, 3}, torch::kInt64), (apply(*pairs_, worlds_) == 1).all(1));
    examples_ = tensor_examples(worlds_.to(torch::kFloat32), labels, worlds_);
  }

  // Perception calls 0, 1 and 2 by names of its own: 1, 2 and 0.
  const std::shared_ptr<Perception> perception_ =
      std::make_shared<toys::Lookup>(torch::tensor({{0.0, 2.0, 0.5}, {0.2, 0.0, 2.0}, {1.5, 0.2, 0.0}}));
  const std::shared_ptr<const Problem> pairs_ =
      std::make_shared<toys::PairsThatDiffer>(Space::uniform(3, 3), std::vector<VariablePair>{{0, 1}, {1, 2}, {0, 2}});
  std::shared_ptr<const Problem> problem_;
  torch::Tensor worlds_;
  std::shared_ptr<const Examples> examples_;
};

TEST_F(PredictorOfPairs, VariablesAreCountedUnderTheBestNames) {
  const auto per_variable = [&](const std::shared_ptr<const Problem>& problem) {
    return Predictor({.problem = problem, .perception = perception_, .model = enumerated(*problem)})
        .evaluate(*examples_)
        .per_variable;
  };
  EXPECT_DOUBLE_EQ(per_variable(problem_), 1);
  EXPECT_DOUBLE_EQ(per_variable(pairs_), 0);
}

TEST_F(PredictorOfPairs, LabelsThatDoNotHoldCountWhereAnotherOutputIsPredicted) {
  const Predictor asked({.problem = problem_, .perception = perception_, .model = enumerated(*problem_)});
  const auto evaluation = asked.evaluate(*examples_);
  EXPECT_DOUBLE_EQ(evaluation.symbolic, 1) << "under other names all differ or not just as well";
  double nll = 0, confident = 0;
  auto confidence = torch::empty({27}, torch::kFloat64);
  auto right = torch::empty({27}, torch::kBool);
  const auto beliefs = asked.beliefs(worlds_.to(torch::kFloat32));
  const auto predictions = asked.predict(beliefs);
  for (std::int64_t row = 0; row < 27; ++row) {
    const auto all_differ = Truth(*problem_, beliefs[row]).of_output(torch::ones({3}, torch::kInt64));
    EXPECT_NEAR(predictions.asked[row].item<double>(), all_differ, 1e-6);
    const bool holds = examples_->labels().holds[row].item<bool>();
    nll -= std::log(holds ? all_differ : 1 - all_differ);
    // What it decides by is whether its most likely output is the one.
    const bool predicted = (predictions.outputs[row][0] == 1).all().item<bool>();
    right[row] = predicted == holds;
    confidence[row] = predicted ? all_differ : 1 - all_differ;
    confident += right[row].item<bool>() ? 1 : 0;
  }
  EXPECT_NEAR(evaluation.nll, nll / 27, 1e-6);
  EXPECT_DOUBLE_EQ(evaluation.neural, confident / 27);
  EXPECT_NEAR(evaluation.ece, expected_calibration_error(confidence, right), 1e-5);
}

TEST_F(PredictorOfPairs, ADecisionIsFittedCountedAndTold) {
  for (const auto decide : {Decide::kLikelihood, Decide::kGap}) {
    SCOPED_TRACE(name_of(decide));
    PredictorOptions options{.decide = decide};
    const auto model = enumerated(*problem_);
    Decision decision{.by = *options.scored_by(), .limits = options.limits};
    decision.fit(*problem_, *model.prediction, *perception_, *examples_);
    const Predictor asked(
        {.problem = problem_, .perception = perception_, .model = model, .options = options, .decision = decision});
    const auto beliefs = asked.beliefs(worlds_.to(torch::kFloat32));
    double decided = 0;
    for (std::int64_t row = 0; row < 27; ++row) {
      const Truth all(*problem_, beliefs[row]);
      const auto differ = all.giving(torch::ones({3}, torch::kInt64));
      const auto best = differ.ranked_prob()[0].item<double>() * differ.total();
      const auto score = decide == Decide::kLikelihood ? std::log(differ.total())
                                                       : std::log(best / all.ranked_prob()[0].item<double>());
      const auto share = 1 / (1 + std::exp(-(decision.slope * score + decision.offset)));
      decided += (share > 0.5) == examples_->labels().holds[row].item<bool>() ? 1 : 0;
      EXPECT_NEAR(asked.predict(beliefs.slice(0, row, row + 1)).holds.item<double>(), share, 1e-4);
      const auto explanation = asked.explain(beliefs.slice(0, row, row + 1), {.by = ExplainedBy::kSearch});
      EXPECT_EQ(explanation.output, (Row{1, 1, 1})) << "what the problem asks for";
      EXPECT_NEAR(explanation.holds.value(), share, 1e-4);
    }
    const auto evaluation = asked.evaluate(*examples_);
    ASSERT_TRUE(evaluation.decided.has_value());
    EXPECT_DOUBLE_EQ(*evaluation.decided, decided / 27);
    EXPECT_EQ(evaluation.accuracy, *evaluation.decided);
    EXPECT_GE(decided / 27, 0.9) << "most can be decided";
  }
}

// What inputs tell is part of the world: it reaches c, q and the search.
TEST(PredictorOfWalks, PlansBetweenTheEndsThatInputsTell) {
  const auto problem = std::make_shared<toys::CheapestWalk>(3, /*any_ends=*/true);
  torch::manual_seed(3);
  const Predictor asked({.problem = problem,
                         .perception = std::make_shared<toys::Lookup>(3),
                         .model = make_model(*problem, "grid"),
                         .options = {.beam = 64}});
  const auto& known = *problem->facts().find<KnownVariables>();
  auto ends = draw_known(known, 8, seeded(5));
  ends[0] = torch::tensor({1, 1, 1, 1});  // already there
  const auto cells = toys::random_beliefs(8, Space::uniform(9, 3), 1, seeded(4)).to(torch::kFloat32);
  const auto beliefs = complete_beliefs(known, cells, ends, problem->worlds());
  const auto predictions = asked.predict(beliefs, 1);
  EXPECT_TRUE(torch::equal(predictions.symbolic, apply(*problem, predictions.worlds)));
  EXPECT_TRUE(torch::equal(predictions.worlds.slice(1, 9), ends));
  for (std::int64_t row = 0; row < 8; ++row) {
    const auto walk = problem->walk().in(row_of(predictions.worlds, row));
    auto cell = walk.start;
    for (const auto direction : values_of(predictions.outputs[row][0])) {
      if (direction != kNone) cell = walk.step(cell, direction);
      ASSERT_NE(cell, kNone);
    }
    EXPECT_EQ(cell, walk.goal);
    const auto explanation = asked.explain(beliefs.slice(0, row, row + 1), {.by = ExplainedBy::kSearch});
    for (const auto& world : explanation.worlds) {
      EXPECT_EQ(apply_to(*problem, world.world), explanation.output);
      EXPECT_TRUE(std::ranges::equal(Values(world.world).last(kEndVariables), values_of(ends[row])));
    }
  }
}

// Four threads ask one predictor about everything at once, and hear what one thread hears.
class AskedByManyThreads : public testing::TestWithParam<std::string> {
 protected:
  static Predictor predictor(const std::shared_ptr<const Problem>& addition, const std::string& way) {
    torch::manual_seed(7);
    Predictor::Parts parts{.problem = addition, .perception = std::make_shared<toys::Lookup>(3), .model = {}};
    parts.options.beam = 4;
    if (way == "enumerated") parts.model = enumerated(*addition);
    if (way == "circuits") parts.model = make_exact_model(*addition, {.method = "conditioned"});
    if (way == "pruned_scan") {
      parts.model = make_model(*addition, "scan", /*explain=*/true, {"width=8"});
      parts.prunes = true;
    }
    if (way == "transducer") {
      parts.model = make_model(*addition, "transducer", /*explain=*/true);
      parts.options.learned_threshold = 1e-6;
    }
    if (way == "prediction_alone") parts.model = make_model(*addition, "mlp", false, {"layers=1", "width=8"});
    return Predictor(std::move(parts));
  }

  // Everything that can be asked about one row of beliefs.
  static std::vector<torch::Tensor> ask(const Predictor& asked, const torch::Tensor& beliefs,
                                        const torch::Tensor& outputs, std::int64_t row) {
    const auto belief = beliefs.slice(0, row, row + 1), output = outputs.slice(0, row, row + 1);
    std::vector<torch::Tensor> answers;
    const auto predictions = asked.predict(belief, 2);
    answers.insert(answers.end(), {predictions.outputs, predictions.probability, predictions.symbolic});
    answers.push_back(asked.beliefs(predictions.worlds.to(torch::kFloat32)));
    for (const auto by : {ExplainedBy::kModel, ExplainedBy::kSearch, ExplainedBy::kInfluence}) {
      if (by == ExplainedBy::kModel && !asked.model().explanation) continue;
      const auto explanation = asked.explain(belief, {.output = values_of(output[0]), .top = 3, .by = by});
      answers.push_back(torch::tensor({explanation.probability, explanation.gap}, torch::kFloat64));
      answers.push_back(torch::tensor(explanation.influence, torch::kFloat64));
      for (const auto& world : explanation.worlds) answers.push_back(tensor_of(world.world));
    }
    answers.push_back(asked.marginals(belief, output));
    answers.push_back(asked.sample(belief, output, 5, seeded(static_cast<std::uint64_t>(row))));
    auto known = torch::full({1, beliefs.size(1)}, kUnset, torch::kInt64);
    known[0][0] = predictions.worlds[0][0];
    const auto conditioned = asked.condition(belief, {.worlds = known, .outputs = output});
    answers.insert(answers.end(), {conditioned.beliefs, conditioned.log_prob});
    // So many rows that c and pruners are asked over a few threads more.
    const auto many = asked.predict(beliefs.repeat_interleave(50, 0).slice(0, row));
    answers.insert(answers.end(), {many.symbolic, many.outputs, many.probability});
    return answers;
  }
};

TEST_P(AskedByManyThreads, AnswersAsItAnswersOne) {
  const auto addition = std::make_shared<toys::Addition>(2, /*base=*/3);
  constexpr std::int64_t kRows = 12;
  const auto beliefs = toys::random_beliefs(kRows, addition->worlds(), 1, seeded(8)).to(torch::kFloat32);
  const auto outputs = apply(*addition, sample_worlds(beliefs, seeded(9)));
  std::vector<std::vector<torch::Tensor>> expected;
  {
    const toys::Threads one(1);
    const auto alone = predictor(addition, GetParam());
    for (std::int64_t row = 0; row < kRows; ++row) expected.push_back(ask(alone, beliefs, outputs, row));
  }
  // One that nobody has asked anything yet: what is made on demand is made while all ask.
  const auto fresh = std::make_shared<toys::Addition>(2, /*base=*/3);
  const auto shared = predictor(fresh, GetParam());
  std::vector<std::string> complaints(4);
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < complaints.size(); ++thread) {
    threads.emplace_back([&, thread] {
      try {
        const toys::Threads two(2);
        for (int round = 0; round < 2; ++round) {
          for (std::int64_t turn = 0; turn < kRows; ++turn) {
            // Each begins elsewhere.
            const auto row = (turn + 3 * static_cast<std::int64_t>(thread)) % kRows;
            const auto answers = ask(shared, beliefs, outputs, row);
            const auto& wanted = expected[static_cast<std::size_t>(row)];
            if (!std::ranges::equal(answers, wanted, [](const auto& one, const auto& other) {
                  return one.sizes() == other.sizes() && torch::allclose(one, other, 1e-6, 1e-9, /*equal_nan=*/true);
                })) {
              complaints[thread] += "row " + std::to_string(row) + " differs; ";
            }
          }
        }
      } catch (const std::exception& error) {
        complaints[thread] += error.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& complaint : complaints) EXPECT_EQ(complaint, "");
}

INSTANTIATE_TEST_SUITE_P(Models, AskedByManyThreads,
                         testing::Values("enumerated", "circuits", "pruned_scan", "transducer", "prediction_alone"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace anesi
