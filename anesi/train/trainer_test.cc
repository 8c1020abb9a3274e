// Training without a configuration and without a task: a lambda, numbers for inputs, a small network and a learner.
#include "anesi/train/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/models/architecture.h"
#include "anesi/models/module_tensors.h"
#include "anesi/priors/priors.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/toy_problems.h"
#include "anesi/train/perception_step.h"
#include "anesi/train/q_phase.h"
#include "anesi/train/train.h"

namespace anesi {
namespace {

using namespace toys;

// Which phases there were, and how many steps each had.
struct PhaseRecorder final : TrainingObserver {
  void on_step(const Progress& progress) override {
    if (phases.empty() || phases.back().first != progress.phase || progress.step == 1)
      phases.push_back({progress.phase, 0});
    EXPECT_EQ(progress.step, ++phases.back().second);
    EXPECT_LE(progress.step, progress.steps);
    EXPECT_LE(progress.epoch, progress.epochs);
    ++steps;
  }
  void on_evaluation(const Progress& progress, const std::optional<Evaluation>& evaluation) override {
    reports.push_back(progress);
    evaluations += evaluation ? 1 : 0;
  }
  std::vector<std::pair<std::string, std::int64_t>> phases;
  std::vector<Progress> reports;
  std::int64_t steps = 0, evaluations = 0;
};

TEST(TrainerOfALambda, LearnsWhatLabelsOnlyAddUp) {
  Learner learner(
      toys::sum_of_two(), [] { return std::make_shared<Sensor>(/*dropout=*/0); }, blurred_sums(200, 5), /*seed=*/1);
  {
    const SeededWeights weights(2);
    learner.learn_through(make_model(*learner.problem, "transducer", /*explain=*/false, {"states=8"}), {.samples = 32});
  }
  learner.held_out = blurred_sums(50, 6);
  TrainOptions options{.epochs = 20, .batch = 20};
  options.schedule = {.lr = 0.02, .shape = Shape::kOneCycle};
  QOptions q{.pretrain = 600, .frozen = true};
  q.schedule = {.lr = 0.05, .shape = Shape::kCosine};
  PhaseRecorder recorder;
  EXPECT_TRUE(train(learner, options, q, {}, &recorder));
  EXPECT_EQ(recorder.phases, (std::vector<std::pair<std::string, std::int64_t>>{{"q", 600}, {"perception", 200}}));
  EXPECT_LT(recorder.reports.back().loss, 0.2 * recorder.reports[1].loss);
  EXPECT_EQ(recorder.evaluations, 20) << "one after every epoch, none after q alone";
  const auto evaluation = learner.predictor().evaluate(*blurred_sums(100, 7));
  EXPECT_GE(evaluation.symbolic, 0.97);
  EXPECT_GE(evaluation.neural, 0.97);
  EXPECT_GE(evaluation.per_variable, 0.97) << "no world was ever told";
}

TEST(TrainerOfALambda, SameSeedSameWeights) {
  const auto end_of = [](std::uint64_t seed) {
    Plan plan;
    plan.seed = seed;
    Tiny tiny(plan);
    TrainingObserver nobody;
    EXPECT_TRUE(tiny.trainer->run(nobody));
    return tiny.trainer->state();
  };
  const auto one = end_of(3);
  EXPECT_TRUE(same_state(one, end_of(3)));
  EXPECT_FALSE(same_state(one, end_of(4)));
}

class EveryTraining : public testing::TestWithParam<Plan> {};

// Stopped after any of its steps, among them the last of each phase, and taken up from its state by another process.
TEST_P(EveryTraining, ResumesBitForBitWhereverItStopped) {
  Tiny straight(GetParam());
  PhaseRecorder recorder;
  EXPECT_TRUE(straight.trainer->run(recorder));
  const auto end = straight.trainer->state();
  TrainingObserver nobody;
  for (std::int64_t steps = 1; steps < recorder.steps; ++steps) {
    Tiny first(GetParam());
    StopAfter stop(steps);
    EXPECT_FALSE(first.trainer->run(stop));
    const auto state = first.trainer->state();  // with the state of torch's own generator, of which there is one
    Tiny second(GetParam());
    second.trainer->load_state(state);
    EXPECT_TRUE(same_state(state, second.trainer->state())) << "after " << steps << " steps";
    EXPECT_TRUE(second.trainer->run(nobody));
    EXPECT_TRUE(same_state(end, second.trainer->state())) << "stopped after " << steps << " steps";
  }
  // At the end nothing is left to do.
  Tiny done(GetParam());
  done.trainer->load_state(end);
  PhaseRecorder idle;
  EXPECT_TRUE(done.trainer->run(idle));
  EXPECT_EQ(idle.steps, 0);
  EXPECT_TRUE(same_state(end, done.trainer->state()));
}

INSTANTIATE_TEST_SUITE_P(Plans, EveryTraining,
                         testing::Values(every_phase(), fitted_prior(), impatient(), in_turn(), in_rounds()),
                         [](const auto& info) { return info.param.name; });

// Steps as long as Adam takes them by each loss alone, of which one is a thousand times as steep as the other.
TEST(TrainerOfALambda, LossesInTurnStepEachByItsOwnMoments) {
  class Steep final : public Loss {
   public:
    explicit Steep(double slope) : slope_(slope) {}
    torch::Tensor loss(const torch::Tensor& beliefs, const Observations&) override {
      return -slope_ * beliefs.select(2, 0).log().mean();
    }

   private:
    double slope_;
  };
  // What it believes of each of two variables, whatever it sees.
  class Opinion final : public Perception {
   public:
    Opinion() { register_parameter("logits", torch::zeros({2, 3})); }
    torch::Tensor forward(const torch::Tensor& inputs) override {
      return parameters()[0].softmax(1).expand({inputs.size(0), 2, 3});
    }
  };
  const auto moved = [](bool in_turn) {
    Learner learner(
        sum_of_two(), [] { return std::make_shared<Opinion>(); }, blurred_sums(4, 1));
    learner.loss = std::make_unique<TwoLosses>(std::make_unique<Steep>(1000), std::make_unique<Steep>(-1),
                                               /*weight=*/1, in_turn);
    learner.make_optimizers();
    for (int step = 0; step < 10; ++step) {
      perception_step(learner, torch::arange(4, torch::kInt64), {.rate = {.learning_rate = 0.01}});
    }
    return learner.perception->parameters()[0][0][0].item<double>();
  };
  EXPECT_NEAR(moved(/*in_turn=*/false), 10 * 0.01, 1e-3) << "the steep one alone is felt";
  EXPECT_NEAR(moved(/*in_turn=*/true), 0, 1e-3) << "each step is taken back by the next";
}

TEST(TrainerOfALambda, RunsItsPhasesInOrder) {
  using Phases = std::vector<std::pair<std::string, std::int64_t>>;
  PhaseRecorder all, again;
  Tiny every(every_phase()), anew(impatient());
  EXPECT_TRUE(every.trainer->run(all));
  EXPECT_EQ(all.phases, (Phases{{"q", 3}, {"starts", 24}, {"perception", 6}, {"refine", 12}, {"follow", 3}}));
  EXPECT_TRUE(anew.trainer->run(again));
  EXPECT_EQ(again.phases, (Phases{{"q", 3}, {"perception", 6}, {"perception", 6}, {"perception", 6}, {"refine", 3}}));
  EXPECT_EQ(anew.learner.restarts, 2);
  PhaseRecorder rounds;
  Tiny twice(in_rounds());
  EXPECT_TRUE(twice.trainer->run(rounds));
  EXPECT_EQ(
      rounds.phases,
      (Phases{{"q", 3}, {"start", 12}, {"perception", 6}, {"refine", 12}, {"perception 2", 6}, {"refine 2", 12}}));
  std::vector<std::int64_t> restarts;
  for (const auto& report : again.reports) {
    if (report.phase == "perception" && report.epoch == 2) restarts.push_back(report.restarts);
  }
  EXPECT_EQ(restarts, (std::vector<std::int64_t>{0, 1, 2}));
}

// Not the last of them, with this seed: what is resumed must remember it.
TEST(TrainerOfALambda, TakesTheBestStartWhereNoneExplainsLabelsWellEnough) {
  Tiny tiny(impatient());
  struct Weights final : TrainingObserver {
    explicit Weights(const Tiny& of) : tiny(of) {}
    void on_evaluation(const Progress& progress, const std::optional<Evaluation>&) override {
      if (progress.phase != "perception" || progress.step < progress.steps) return;
      left.push_back(tiny.learner.perception->parameters()[0].detach().clone());
      gaps.push_back(explain_labels(tiny.learner, impatient().refine).gap);
    }
    const Tiny& tiny;
    std::vector<torch::Tensor> left;  // by each start
    std::vector<double> gaps;
  } starts(tiny);
  EXPECT_TRUE(tiny.trainer->run(starts));
  ASSERT_EQ(starts.gaps.size(), 3U);
  const auto best = static_cast<std::size_t>(std::ranges::min_element(starts.gaps) - starts.gaps.begin());
  EXPECT_LT(best, 2U) << "this seed tests nothing; choose another";
  EXPECT_TRUE(torch::equal(tiny.learner.perception->parameters()[0], starts.left[best]));
  EXPECT_EQ(tiny.learner.explained->gap, starts.gaps[best]);
}

// The best epoch of a start is its own: what an earlier start was at its best is no weights of the next.
TEST(TrainerOfALambda, EveryStartKeepsTheBestOfItsOwnEpochs) {
  auto plan = impatient();
  plan.train.epochs = 4;
  plan.train.keep = Keep::kBest;
  Tiny tiny(plan);
  tiny.learner.held_out = blurred_sums(60, 6);
  struct Kept final : TrainingObserver {
    explicit Kept(Tiny& of) : tiny(of) {}
    void on_evaluation(const Progress& progress, const std::optional<Evaluation>& evaluation) override {
      if (progress.phase != "perception") return;
      if (progress.epoch == 1 || evaluation->accuracy > best.back().accuracy) {
        if (progress.epoch == 1) best.emplace_back();
        best.back() = {evaluation->accuracy, copied(module_tensors(*tiny.learner.perception, ""))};
      }
      if (progress.step < progress.steps) return;
      // What explanations cost by the best epoch of this start, which then goes on from where it was.
      const auto now = copied(module_tensors(*tiny.learner.perception, ""));
      load_module_tensors(*tiny.learner.perception, "", best.back().weights, "test");
      gaps.push_back(explain_labels(tiny.learner, impatient().refine).gap);
      load_module_tensors(*tiny.learner.perception, "", now, "test");
    }
    struct Best {
      double accuracy = 0;
      NamedTensors weights;
    };
    Tiny& tiny;
    std::vector<Best> best;    // by each start
    std::vector<double> gaps;  // of it
  } starts(tiny);
  EXPECT_TRUE(tiny.trainer->run(starts));
  ASSERT_EQ(starts.gaps.size(), 3U);
  const auto chosen = static_cast<std::size_t>(std::ranges::min_element(starts.gaps) - starts.gaps.begin());
  const auto most_accurate =
      static_cast<std::size_t>(std::ranges::max_element(starts.best, {}, &Kept::Best::accuracy) - starts.best.begin());
  EXPECT_LT(most_accurate, chosen) << "this seed tests nothing; choose another";
  EXPECT_EQ(tiny.learner.explained->gap, starts.gaps[chosen]);
  for (const auto& [name, tensor] : starts.best[chosen].weights) {
    EXPECT_TRUE(torch::equal(tensor, module_tensors(*tiny.learner.perception, "").at(name))) << name;
  }
}

TEST(TrainerOfALambda, ReportsMeansSinceTheLastReport) {
  Tiny tiny;
  struct Means final : TrainingObserver {
    void on_step(const Progress& progress) override { last = progress; }
    void on_evaluation(const Progress& progress, const std::optional<Evaluation>&) override {
      EXPECT_EQ(std::isnan(progress.loss), progress.phase == "q") << "no label is looked at while q learns alone";
      EXPECT_FALSE(std::isnan(progress.q_loss));
      EXPECT_GT(progress.seconds, 0);
      ++reports;
    }
    Progress last;
    int reports = 0;
  } means;
  EXPECT_TRUE(tiny.trainer->run(means));
  EXPECT_EQ(means.reports, 3);
  EXPECT_GE(tiny.trainer->seconds(), means.last.seconds);
}

TEST(TrainerOfALambda, TwoPhasesOfOneNameAreAnError) {
  Learner learner(
      toys::sum_of_two(), [] { return std::make_shared<Sensor>(); }, blurred_sums(12, 1));
  learner.learn_through(make_model(*learner.problem, "transducer"));
  std::vector<std::unique_ptr<Phase>> phases;
  phases.push_back(std::make_unique<QPhase>(learner, QSchedule{.schedule = {}, .alone = 1}));
  phases.push_back(std::make_unique<QPhase>(learner, QSchedule{.schedule = {}, .alone = 2}));
  EXPECT_TRUE(names(message_of([&] { Trainer(learner, std::move(phases)); }), {"phases", "q"}));
}

TEST(TrainerOfALambda, ACheckpointOfAnotherTrainingIsRefused) {
  Tiny tiny;
  StopAfter stop(5);
  tiny.trainer->run(stop);
  const auto state = tiny.trainer->state();
  const auto loaded = [&](const std::function<void(NamedTensors&)>& change) {
    auto changed = state;
    change(changed);
    Tiny other;
    return message_of([&] { other.trainer->load_state(changed); });
  };
  EXPECT_EQ(loaded([](NamedTensors&) {}), "no error");
  const auto unknown_phase = [&](const std::function<void(NamedTensors&)>& change) {
    return names(loaded(change), {"checkpoint", "phase"});
  };
  EXPECT_TRUE(unknown_phase([](NamedTensors& all) {
    all.erase("at.perception");
    all["at.dreaming"] = torch::tensor(1);
  }));
  EXPECT_TRUE(unknown_phase([](NamedTensors& all) { all.erase("at.perception"); }));
  EXPECT_TRUE(unknown_phase([](NamedTensors& all) { all["at.q"] = torch::tensor(1); })) << "it stands at two";
  EXPECT_TRUE(names(loaded([](NamedTensors& all) { all.erase("generator"); }), {"checkpoint", "generator"}));
  EXPECT_TRUE(names(loaded([](NamedTensors& all) { all["sums"] = torch::zeros({3}); }), {"checkpoint"}));
  const auto misshapen = loaded([](NamedTensors& all) { all["perception.layers.0.weight"] = torch::zeros({3, 1}); });
  EXPECT_TRUE(names(misshapen, {"checkpoint", "perception.layers.0.weight"}));
  // One that stands at a phase which this training has not, though another has.
  Tiny refined(every_phase());
  StopAfter within_starts(6);
  refined.trainer->run(within_starts);
  EXPECT_TRUE(
      names(message_of([&] { Tiny().trainer->load_state(refined.trainer->state()); }), {"checkpoint", "phase"}));
}

// What one phase remembers, today or in a later version, is nobody else's business.
TEST(TrainerOfALambda, NewsOfOnePhaseBreakNoOther) {
  const auto plan = every_phase();
  TrainingObserver nobody;
  Tiny straight(plan);
  straight.trainer->run(nobody);
  const auto end = straight.trainer->state();
  for (const std::int64_t steps : {2, 7, 29, 36, 47}) {  // in each of the phases
    Tiny first(plan);
    StopAfter stop(steps);
    first.trainer->run(stop);
    auto state = first.trainer->state();
    state["phase.q.news"] = torch::tensor(1);
    state["phase.starts.news"] = torch::tensor(2);
    state["phase.perception.news"] = torch::tensor(3);
    state["phase.follow.news"] = torch::tensor(4);
    state["phase.of_a_later_version.news"] = torch::tensor(5);
    Tiny second(plan);
    second.trainer->load_state(state);
    EXPECT_TRUE(second.trainer->run(nobody));
    EXPECT_TRUE(same_state(end, second.trainer->state())) << "after " << steps << " steps";
  }
}

// A phase of one's own: it draws, it remembers, and it runs twice.
class Dice final : public Phase {
 public:
  explicit Dice(Learner& learner) : learner_(learner) {}
  std::string name() const override { return "dice"; }
  std::int64_t steps() const override { return 4; }
  StepLosses step(std::int64_t index) override {
    sum_ += (index + 1) * torch::randint(6, {1}, learner_.generator, torch::kInt64).item<std::int64_t>();
    return {.loss = static_cast<double>(sum_)};
  }
  Next finish() override { return ++rounds_ < 2 ? Next::kAgain : Next::kOn; }
  NamedTensors state() const override { return {{"sum", torch::tensor(sum_)}, {"rounds", torch::tensor(rounds_)}}; }
  void load_state(const NamedTensors& state) override {
    sum_ = state.at("sum").item<std::int64_t>();
    rounds_ = state.at("rounds").item<std::int64_t>();
  }
  std::int64_t sum() const { return sum_; }

 private:
  Learner& learner_;
  std::int64_t sum_ = 0, rounds_ = 0;
};

TEST(TrainerOfALambda, APhaseOfOnesOwnRunsAmongTheOthers) {
  struct Gambler {
    Gambler() {
      auto phases = usual_phases(tiny.learner, {.epochs = 1, .batch = 4}, {.pretrain = 2});
      auto own = std::make_unique<Dice>(tiny.learner);
      dice = own.get();
      phases.insert(phases.begin() + 1, std::move(own));
      trainer = std::make_unique<Trainer>(tiny.learner, std::move(phases));
    }
    Tiny tiny;
    Dice* dice;
    std::unique_ptr<Trainer> trainer;
  };
  Gambler straight;
  PhaseRecorder recorder;
  EXPECT_TRUE(straight.trainer->run(recorder));
  EXPECT_EQ(recorder.phases,
            (std::vector<std::pair<std::string, std::int64_t>>{{"q", 2}, {"dice", 4}, {"dice", 4}, {"perception", 3}}));
  EXPECT_GT(straight.dice->sum(), 0);
  const auto end = straight.trainer->state();
  TrainingObserver nobody;
  for (std::int64_t steps = 1; steps < recorder.steps; ++steps) {
    Gambler first;
    StopAfter stop(steps);
    first.trainer->run(stop);
    const auto state = first.trainer->state();
    Gambler second;
    second.trainer->load_state(state);
    second.trainer->run(nobody);
    EXPECT_EQ(second.dice->sum(), straight.dice->sum());
    EXPECT_TRUE(same_state(end, second.trainer->state())) << "stopped after " << steps;
  }
}

TEST(TrainerOfALambda, TheStartWithTheLowestLossIsTrainedOn) {
  // At no learning rate to speak of, starts stay what they began as.
  Plan plan;
  plan.train = {.epochs = 1, .batch = 12, .starts = 6, .start_steps = 4};
  plan.train.schedule.lr = 1e-8;
  plan.q = {.pretrain = 50, .frozen = true};
  Tiny tiny(plan);
  struct Starts final : TrainingObserver {
    explicit Starts(const Tiny& of) : tiny(of) {}
    void on_step(const Progress& progress) override {
      if (progress.phase != "starts") return;
      // From means over all steps to those of single ones; of four steps the last counts.
      const auto total = progress.loss * static_cast<double>(progress.step);
      if (progress.step % 4 == 0) {
        losses.push_back(total - before);
        weights.push_back(tiny.learner.perception->parameters()[0].detach().clone());
      }
      before = total;
    }
    const Tiny& tiny;
    double before = 0;
    std::vector<double> losses;
    std::vector<torch::Tensor> weights;  // as each start leaves them; at the end of the last, those that are kept
  } starts(tiny);
  EXPECT_TRUE(tiny.trainer->run(starts));
  ASSERT_EQ(starts.weights.size(), 6U);
  const auto best = std::ranges::min_element(starts.losses) - starts.losses.begin();
  for (std::size_t one = 0; one < 5; ++one) {
    EXPECT_EQ(torch::allclose(starts.weights[one], starts.weights[5], 0, 1e-5),
              static_cast<std::ptrdiff_t>(one) == best);
    for (std::size_t other = 0; other < one; ++other) {
      EXPECT_FALSE(torch::allclose(starts.weights[one], starts.weights[other], 0, 1e-3)) << "not weights of its own";
    }
  }
}

TEST(TrainerOfALambda, ABeliefThatIsNoneIsNamedAtTheFirstStep) {
  class Loud final : public Perception {
   public:
    Loud() { register_parameter("volume", torch::ones({1})); }
    torch::Tensor forward(const torch::Tensor& inputs) override {
      return torch::full({inputs.size(0), 2, 3}, 0.5) * parameters()[0];
    }
  };
  Learner learner(
      toys::sum_of_two(), [] { return std::make_shared<Loud>(); }, blurred_sums(12, 1));
  learner.learn_through(make_model(*learner.problem, "transducer"));
  EXPECT_TRUE(names(message_of([&] { train(learner, {.epochs = 1}); }), {"beliefs", "example 0", "variable 0", "1.5"}));
}

TEST(TrainerOfALambda, SaysWhatTheLearnerLacks) {
  Learner learner(
      toys::sum_of_two(), [] { return std::make_shared<Sensor>(); }, blurred_sums(12, 1));
  EXPECT_THROW(train(learner, {.epochs = 1}), UsageError) << "it has no loss";
  const auto none_hold =
      tensor_examples(torch::zeros({3, 2}), {torch::zeros({3, 1}, torch::kInt64), torch::zeros({3}, torch::kBool)});
  Learner negative(
      toys::sum_of_two(), [] { return std::make_shared<Sensor>(); }, none_hold);
  negative.learn_through(make_model(*negative.problem, "transducer"), {.samples = 4});
  TrainOptions options{.epochs = 1};
  EXPECT_TRUE(train(negative, options));
  options.negatives = false;
  EXPECT_THROW(train(negative, options), Error) << "nothing is left to learn from";
}

TEST(TrainerOfALambda, LeavesOutLabelsThatDoNotHoldWhereAsked) {
  const auto worlds = torch::tensor({{0, 0}, {1, 1}, {2, 2}});
  const auto examples = tensor_examples(worlds.to(torch::kFloat32),
                                        {worlds.sum(1, /*keepdim=*/true), torch::tensor({true, false, true})}, worlds);
  Learner learner(
      toys::sum_of_two(), [] { return std::make_shared<Sensor>(); }, examples);
  learner.learn_through(make_model(*learner.problem, "transducer"), {.samples = 4});
  TrainOptions options{.epochs = 1, .batch = 1};
  options.negatives = false;
  PhaseRecorder recorder;
  EXPECT_TRUE(train(learner, options, {}, {}, &recorder));
  EXPECT_EQ(recorder.phases, (std::vector<std::pair<std::string, std::int64_t>>{{"perception", 2}}));
  EXPECT_TRUE(torch::equal(learner.rows, torch::tensor({0, 2})));
}

// Labels of every kind at once: outputs that hold and that do not, whole worlds and some of their variables.
TEST(TrainerOfALambda, LearnsFromLabelsOfEveryKind) {
  const auto worlds = torch::randint(3, {120, 2}, seeded(8), torch::kInt64);
  Observations labels(worlds.sum(1, /*keepdim=*/true), torch::ones({120}, torch::kBool));
  labels.worlds = torch::full({120, 2}, kUnset, torch::kInt64);
  labels.worlds.slice(0, 0, 30) = worlds.slice(0, 0, 30);
  labels.worlds.slice(0, 30, 60).select(1, 0) = worlds.slice(0, 30, 60).select(1, 0);
  labels.holds.slice(0, 60, 90) = false;  // and not one more than it is
  labels.outputs.slice(0, 60, 90) = (labels.outputs.slice(0, 60, 90) + 1).remainder(5);
  Learner learner(
      toys::sum_of_two(), [] { return std::make_shared<Sensor>(/*dropout=*/0); },
      tensor_examples(worlds.to(torch::kFloat32), labels, worlds), /*seed=*/2);
  {
    const SeededWeights weights(2);
    learner.learn_through(make_model(*learner.problem, "transducer", /*explain=*/true, {"states=8"}), {.samples = 32});
  }
  TrainOptions options{.epochs = 20, .batch = 12};
  options.schedule = {.lr = 0.02, .shape = Shape::kOneCycle};
  QOptions q{.pretrain = 600, .frozen = true};
  q.schedule = {.lr = 0.05, .shape = Shape::kCosine};
  EXPECT_TRUE(train(learner, options, q));
  EXPECT_GE(learner.predictor().evaluate(*blurred_sums(100, 9)).per_variable, 0.97);
}

}  // namespace
}  // namespace anesi
