#include "anesi/losses/amortized.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cmath>
#include <random>
#include <thread>

#include "anesi/check/model_check.h"
#include "anesi/core/build.h"
#include "anesi/core/error.h"
#include "anesi/core/known_variables.h"
#include "anesi/formula/formula.h"
#include "anesi/logic/random_formula.h"
#include "anesi/models/architecture.h"
#include "anesi/models/exact_model.h"
#include "anesi/models/module_tensors.h"
#include "anesi/models/resnet.h"
#include "anesi/models/sample.h"
#include "anesi/models/scan.h"
#include "anesi/models/scan_explanation.h"
#include "anesi/models/transducer.h"
#include "anesi/priors/certain.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/threads.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

// Mean total variation between q and the exact distribution, by enumeration, over Dirichlet(0.2) beliefs.
double total_variation(SequenceModel& model, const Problem& addition, std::int64_t beliefs) {
  const auto sampled = FixedDirichlet(addition.worlds(), 0.2).sample(beliefs, seeded(17));
  return total_variations(model, addition.outputs(), *make_exact(addition, {.method = "enumerate"}), sampled)
      .mean()
      .item<double>();
}

AmortizedOptions few_samples() {
  AmortizedOptions options;
  options.samples = 64;
  return options;
}

TEST(Amortized, ChunksChangeNothingButTheOrderOfSums) {
  const auto problem = std::make_shared<toys::Addition>(1);
  const auto trained = [&](std::int64_t chunk, int threads) {
    const toys::Threads so_many(threads);
    torch::manual_seed(8);
    const auto model =
        std::make_shared<Transducer>(problem->outputs(), reading_order_of(*problem), TransducerOptions{});
    AmortizedOptions options;
    options.samples = 20;
    options.chunk = chunk;
    AmortizedLoss loss(problem, {model, nullptr}, std::make_unique<CertainBeliefs>(problem->worlds()), options,
                       seeded(9));
    for (int step = 0; step < 5; ++step) loss.update(Rate{});
    EXPECT_EQ(torch::get_num_threads(), threads);
    return model->parameters()[0].detach().clone();
  };
  const auto whole = trained(0, 1), shared = trained(14, 2);  // three chunks, on two threads
  EXPECT_TRUE(torch::allclose(whole, trained(14, 1), 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(whole, shared, 1e-4, 1e-5));
  EXPECT_TRUE(torch::equal(shared, trained(14, 2)));
}

// Two losses on two threads, as two processes would have them, meet where their gradients are added up.
TEST(Amortized, PartnersLearnWhatOneWould) {
  const toys::Threads one(1);
  const auto problem = std::make_shared<toys::Addition>(1);
  const auto make_model = [&] {
    torch::manual_seed(8);
    return std::make_shared<Transducer>(problem->outputs(), reading_order_of(*problem), TransducerOptions{});
  };
  const auto train = [&](const std::shared_ptr<Transducer>& model, const Partners& partners) {
    AmortizedLoss loss(problem, {model, nullptr}, std::make_unique<CertainBeliefs>(problem->worlds()), {.samples = 21},
                       seeded(9));
    if (!partners.alone()) loss.join(partners);
    for (int step = 0; step < 5; ++step) loss.update(Rate{});
  };
  const auto alone = make_model(), first = make_model(), second = make_model();
  train(alone, {});

  std::array<torch::Tensor, 2> messages;
  std::barrier meeting(2);
  const auto partner = [&](std::int64_t rank) {
    return Partners{rank, 2, [&, rank](torch::Tensor& tensor) {
                      messages[static_cast<std::size_t>(rank)] = tensor.clone();
                      meeting.arrive_and_wait();
                      const auto sum = messages[0] + messages[1];
                      meeting.arrive_and_wait();
                      tensor.copy_(sum);
                    }};
  };
  std::thread other([&] { train(second, partner(1)); });
  train(first, partner(0));
  other.join();
  EXPECT_TRUE(torch::allclose(alone->parameters()[0], first->parameters()[0], 1e-4, 1e-5));
  EXPECT_TRUE(torch::equal(first->parameters()[0], second->parameters()[0]));
}

TEST(Amortized, LearnsFromPerceivedBeliefsTooWhereAsked) {
  for (const bool perceived : {false, true}) {
    std::atomic<int> asked = 0;
    const auto problem = make_problem(Space{3, 3}, Space{2}, [&](Values world, MutableValues output) {
      ++asked;
      output[0] = world[0] == world[1] ? 0 : 1;
    });
    const auto model =
        std::make_shared<Transducer>(problem->outputs(), reading_order_of(*problem), TransducerOptions{});
    AmortizedOptions options;
    options.samples = 5;
    options.perceived = perceived;
    AmortizedLoss loss(problem, {model, nullptr}, std::make_unique<CertainBeliefs>(problem->worlds()), options,
                       seeded(9));
    loss.learn(uniform_beliefs(3, problem->worlds()), Rate{});
    EXPECT_EQ(asked, perceived ? 8 : 5);
  }
}

TEST(Amortized, UpdatesBringANeuralModelNearer) {
  torch::manual_seed(1);
  const auto addition = std::make_shared<toys::Addition>(1);
  auto model =
      std::make_shared<Scan>(addition->worlds(), addition->outputs(), reading_order_of(*addition), ScanOptions{32});
  AmortizedLoss loss(addition, {model, nullptr}, std::make_unique<FixedDirichlet>(addition->worlds(), 0.2),
                     few_samples(), seeded(1));
  const auto before = total_variation(*model, *addition, 50);
  for (int step = 0; step < 300; ++step) loss.update({.learning_rate = 0.005});
  EXPECT_LT(total_variation(*model, *addition, 50), 0.8 * before);
}

// The formula has loops, so that belief propagation, at which this q begins, leaves something to learn.
TEST(Amortized, UpdatesBringMessagesBetweenClausesNearer) {
  if (!this_build().cadical) GTEST_SKIP() << "built without CaDiCaL";
  torch::manual_seed(1);
  std::mt19937_64 random(5);
  const auto problem = formula_problem(random_formula(7, 21, 3, random));
  const auto q = make_model(*problem, "graph", /*explain=*/true, {"cases=1"});
  auto options = few_samples();
  options.variant = Variant::kPrune;
  options.policy = Policy::kOn;
  AmortizedLoss loss(problem, q, std::make_unique<FixedDirichlet>(problem->worlds(), 1), options, seeded(1));
  const auto beliefs = FixedDirichlet(problem->worlds(), 1).sample(100, seeded(2));
  const auto outputs = torch::ones({100, 1}, torch::kInt64);
  const auto truth = make_exact(*problem, {.method = "enumerate"})->log_prob(beliefs, outputs);
  const auto error = [&] {
    const torch::NoGradGuard no_gradients;
    return (q.prediction->log_prob(beliefs, outputs) - truth).square().mean().item<double>();
  };
  const auto before = error();
  double first = 0, last = 0;  // losses
  for (int step = 0; step < 30; ++step) {
    const auto now = loss.update({.learning_rate = 0.005});
    ASSERT_TRUE(std::isfinite(now)) << step;
    (step < 15 ? first : last) += now;
  }
  EXPECT_LT(last, first);
  EXPECT_LT(error(), 0.9 * before);
  EXPECT_TRUE(loss.loss(beliefs, outputs).isfinite().item<bool>());
}

TEST(Amortized, LossIsTheMeanNegativeLogLikelihood) {
  torch::manual_seed(1);
  const auto addition = std::make_shared<toys::Addition>(2);
  auto model =
      std::make_shared<Scan>(addition->worlds(), addition->outputs(), reading_order_of(*addition), ScanOptions{16});
  AmortizedLoss loss(addition, {model, nullptr}, std::make_unique<FixedDirichlet>(addition->worlds(), 0.2),
                     few_samples(), seeded(1));
  const auto beliefs = FixedDirichlet(addition->worlds(), 1.0).sample(5, seeded(2));
  const auto outputs = apply(*addition, sample_worlds(beliefs, seeded(3)));
  EXPECT_NEAR(loss.loss(beliefs, outputs).item<float>(), -model->log_prob(beliefs, outputs).mean().item<float>(), 1e-5);
}

TEST(Amortized, TheRatioToSomethingImpossibleIsANumberThatLowersQ) {
  auto log_q = torch::tensor({-1.0, -2.0, -3.0}, torch::kFloat64).requires_grad_(true);
  const auto impossible = -std::numeric_limits<double>::infinity();
  const auto log_p = torch::tensor({-1.5, impossible, impossible}, torch::kFloat64);
  const auto squares = squared_log_ratio(log_q, log_p);
  EXPECT_NEAR(squares[0].item<double>(), 0.25, 1e-12);
  EXPECT_TRUE(squares.isfinite().all().item<bool>());
  squares.sum().backward();
  EXPECT_TRUE((log_q.grad() > 0).all().item<bool>()) << log_q.grad();
}

struct Way {
  Variant variant;
  Matching matching;
  Policy policy;
  double prediction_weight;

  friend void PrintTo(const Way& way, std::ostream* out) {
    *out << name_of(way.variant) << " " << name_of(way.matching) << " " << name_of(way.policy) << " "
         << way.prediction_weight;
  }
};

class EveryWayToExplain : public testing::TestWithParam<Way> {};

// Off-policy, the joint q(w,y|P) comes nearer to p(w|P) where p has its mass. On-policy alone there is no such promise
// (it is the reverse divergence that falls), but what q draws fits the knowledge more often. Under the pruner it always
// does.
TEST_P(EveryWayToExplain, BringsTheJointNearer) {
  torch::manual_seed(1);
  const auto problem = std::make_shared<toys::Addition>(1);
  const auto& addition = *problem;
  const auto& way = GetParam();
  const ScanOptions small{32};
  const InferenceModel q{
      std::make_shared<Scan>(addition.worlds(), addition.outputs(), reading_order_of(addition), small),
      std::make_shared<ScanExplanation>(addition.worlds(), addition.outputs(), reading_order_of(addition), small)};
  auto options = few_samples();
  options.variant = way.variant;
  options.matching = way.matching;
  options.policy = way.policy;
  options.prediction_weight = way.prediction_weight;
  options.clip = 10;
  AmortizedLoss loss(problem, q, std::make_unique<FixedDirichlet>(addition.worlds(), 0.5), options, seeded(1));
  const auto beliefs = FixedDirichlet(addition.worlds(), 0.5).sample(500, seeded(2));
  const auto worlds = sample_worlds(beliefs, seeded(3)), outputs = apply(addition, worlds);
  const SymbolicPruning symbolic(addition.facts().share<Pruner>());
  const auto* const pruning = way.variant == Variant::kPrune ? &symbolic : nullptr;
  const auto divergence = [&] {  // KL(p || q) of the joint, by samples of p
    const torch::NoGradGuard no_gradients;
    const auto log_q = log_prob(*q.prediction, beliefs, outputs, pruning) +
                       log_prob(*q.explanation, {beliefs, outputs}, worlds, pruning);
    return (world_log_prob(beliefs, worlds) - log_q).mean().item<double>();
  };
  const auto satisfied = [&] {
    const torch::NoGradGuard no_gradients;
    const auto y = sample(*q.prediction, beliefs, seeded(4), pruning).values;
    const auto w = sample(*q.explanation, {beliefs, y}, seeded(5), pruning).values;
    return (apply(addition, w) == y).all(1).to(torch::kFloat64).mean().item<double>();
  };
  const auto far = divergence(), fitted = satisfied();
  for (int step = 0; step < 250; ++step) EXPECT_TRUE(std::isfinite(loss.update({.learning_rate = 0.005})));
  if (way.policy != Policy::kOn) {
    EXPECT_LT(divergence(), 0.8 * far);
  }
  if (pruning == nullptr) {
    EXPECT_GT(satisfied(), 2 * fitted);
  } else {
    EXPECT_EQ(satisfied(), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, EveryWayToExplain,
                         testing::Values(Way{Variant::kExplain, Matching::kJoint, Policy::kOff, 0},
                                         Way{Variant::kExplain, Matching::kJoint, Policy::kBoth, 0},
                                         Way{Variant::kExplain, Matching::kJoint, Policy::kOn, 1},
                                         Way{Variant::kExplain, Matching::kForwardKl, Policy::kOff, 0},
                                         Way{Variant::kPrune, Matching::kJoint, Policy::kOff, 1},
                                         Way{Variant::kPrune, Matching::kJoint, Policy::kBoth, 1}));

TEST(Amortized, AsksAndTellsOnlyWhatAModelUnderstands) {
  const toys::CheapestWalk own(4);
  const auto model = std::make_shared<ResNetWalk>(own, ResNetOptions{.width = 2});
  const auto learn = [&](bool any_ends, std::int64_t trace) {
    const auto problem = std::make_shared<toys::CheapestWalk>(4, any_ends);
    AmortizedOptions options;
    options.samples = 4;
    options.trace = trace;
    AmortizedLoss(problem, {model, nullptr}, std::make_unique<CertainBeliefs>(perceived_space(*problem)), options,
                  seeded(1))
        .update(Rate{});
  };
  EXPECT_THROW(learn(true, 0), UsageError);
  EXPECT_THROW(learn(false, 2), UsageError);
  learn(false, 0);
}

// What inputs tell is certain in every belief that q learns from, and the prior knows nothing of it.
TEST(Amortized, LearnsFromBeliefsThatAreCertainOfWhatIsKnown) {
  const auto problem = std::make_shared<toys::CheapestWalk>(3, /*any_ends=*/true);
  const auto seen = std::make_shared<torch::Tensor>();
  class Watched final : public SequenceModel {
   public:
    Watched(const Problem& problem, std::shared_ptr<torch::Tensor> seen)
        : SequenceModel(problem.outputs()),
          seen_(std::move(seen)),
          weight_(register_parameter("weight", torch::ones({}))) {}
    torch::Tensor log_prob(const Context& context, const torch::Tensor&) override {
      *seen_ = context.beliefs;
      return weight_ * context.beliefs.sum({1, 2});
    }
    std::unique_ptr<Rollout> begin(const Context&) override { return nullptr; }

   private:
    std::shared_ptr<torch::Tensor> seen_;
    torch::Tensor weight_;
  };
  AmortizedLoss loss(problem, {std::make_shared<Watched>(*problem, seen), nullptr},
                     std::make_unique<FixedDirichlet>(perceived_space(*problem), 0.5), few_samples(), seeded(1));
  loss.learn(complete_beliefs(*problem->facts().find<KnownVariables>(), torch::full({2, 9, 3}, 1.0 / 3),
                              torch::zeros({2, kEndVariables}, torch::kInt64), problem->worlds()),
             Rate{});
  ASSERT_EQ(seen->size(1), 9 + kEndVariables);
  EXPECT_TRUE((seen->slice(1, 9).amax(2) == 1).all().item<bool>());
  EXPECT_GT((seen->slice(1, 9).argmax(2) != 0).sum().item<std::int64_t>(), 0);
  EXPECT_FALSE((seen->slice(1, 0, 9).amax(2) == 1).any().item<bool>());
  EXPECT_TRUE(torch::allclose(seen->sum(2), torch::ones({}), 1e-5, 1e-5));
}

TEST(Amortized, PruningNeedsAPruner) {
  const auto problem = make_problem(Space{2}, Space{2}, [](Values w, MutableValues y) { y[0] = w[0]; });
  auto options = few_samples();
  options.variant = Variant::kPrune;
  const auto model = std::make_shared<Transducer>(problem->outputs(), reading_order_of(*problem), TransducerOptions{});
  EXPECT_THROW(
      AmortizedLoss(problem, {model, nullptr}, std::make_unique<CertainBeliefs>(problem->worlds()), options, seeded(1)),
      UsageError);
}

// What asks q while it does not learn finds weights that ask for no gradient, so nobody has to change them first; and
// an update that fails leaves q at rest as well.
TEST(Amortized, LeavesQAtRestWheneverItDoesNotLearn) {
  const auto problem = toys::sum_of_two();
  torch::manual_seed(3);
  const auto q = make_model(*problem, "set", /*explain=*/true, {"width=8", "heads=2", "layers=1"});
  const auto is_at_rest = [&] {
    const auto asks_for_no_gradient = [](const torch::Tensor& parameter) { return !parameter.requires_grad(); };
    return std::ranges::all_of(std::vector<SequenceModel*>{q.prediction.get(), q.explanation.get()}, [&](auto* model) {
      return !model->is_training() && std::ranges::is_sorted(model->order()) &&
             std::ranges::all_of(model->parameters(), asks_for_no_gradient);
    });
  };
  AmortizedOptions options;
  options.samples = 4;
  options.variant = Variant::kExplain;
  AmortizedLoss loss(problem, q, std::make_unique<CertainBeliefs>(problem->worlds()), options, seeded(1));
  EXPECT_TRUE(is_at_rest());
  const auto before = q.prediction->parameters()[0].detach().clone();
  loss.update(Rate{});
  EXPECT_FALSE(torch::equal(before, q.prediction->parameters()[0])) << "it learns all the same";
  EXPECT_TRUE(is_at_rest());
  const auto beliefs = uniform_beliefs(2, problem->worlds()).requires_grad_();
  loss.loss(beliefs, torch::tensor({{0}, {1}})).backward();
  EXPECT_TRUE(beliefs.grad().defined());
  for (const auto& parameter : q.prediction->parameters()) EXPECT_FALSE(parameter.grad().defined());
  // Worlds of too few variables.
  const Exercise damaged{beliefs.detach(), torch::zeros({2, 1}, torch::kInt64), torch::zeros({2, 1}, torch::kInt64)};
  EXPECT_ANY_THROW(loss.update_on(damaged, Rate{}));
  EXPECT_TRUE(is_at_rest());
}

class EveryArchitectureLearns : public testing::TestWithParam<const char*> {
 protected:
  // A q that learns, from where it began.
  struct Begun {
    explicit Begun(const std::string& architecture) {
      torch::manual_seed(5);
      std::vector<std::string> settings;
      if (architecture == "set" || architecture == "transformer") settings = {"width=8", "heads=2", "layers=1"};
      q = make_model(*problem, architecture, /*explain=*/true, settings);
      AmortizedOptions options;
      options.samples = 8;
      options.variant = Variant::kExplain;
      options.policy = Policy::kBoth;
      loss = std::make_unique<AmortizedLoss>(problem, q, std::make_unique<FixedDirichlet>(problem->worlds(), 0.5),
                                             options, generator);
    }
    void learn(int updates) const {
      for (int update = 0; update < updates; ++update) loss->update({.learning_rate = 0.01});
    }
    // What is expected to decide all that it learns from here on.
    NamedTensors state() const {
      auto state = model_tensors(q);
      add_with_prefix(state, "loss.", loss->state());
      state["generator"] = generator.get_state();
      return copied(state);
    }
    void load_state(const NamedTensors& state) {
      load_model_tensors(q, state, "test");
      loss->load_state(with_prefix(state, "loss."));
      generator.set_state(state.at("generator"));
    }

    std::shared_ptr<const Problem> problem = toys::sum_of_two();
    at::Generator generator = seeded(9);
    InferenceModel q;
    std::unique_ptr<AmortizedLoss> loss;
  };

  static void expect_same(const Begun& one, const Begun& other) {
    const auto expected = one.state(), found = other.state();
    ASSERT_EQ(expected.size(), found.size());
    for (const auto& [name, tensor] : expected) EXPECT_TRUE(torch::equal(tensor, found.at(name))) << name;
  }
};

TEST_P(EveryArchitectureLearns, FromDrawsOfItsOwnGeneratorAlone) {
  const Begun one(GetParam()), other(GetParam());
  torch::manual_seed(1);
  one.learn(3);
  torch::manual_seed(2);
  other.learn(3);
  expect_same(one, other);
}

TEST_P(EveryArchitectureLearns, OnBitForBitWhereItStopped) {
  const Begun straight(GetParam());
  straight.learn(4);
  const Begun first(GetParam());
  first.learn(2);
  Begun second(GetParam());
  second.learn(1);
  torch::manual_seed(7);
  second.load_state(first.state());
  second.learn(2);
  expect_same(straight, second);
}

INSTANTIATE_TEST_SUITE_P(Losses, EveryArchitectureLearns,
                         testing::Values("mlp", "scan", "set", "transducer", "transformer"),
                         [](const auto& info) { return std::string(info.param); });

// The statistics of a part of a batch are not the batch's, and parts that are looked at side by side, or by other
// processes, would keep their own.
TEST(Amortized, ANetworkThatNormalisesByTheBatchSeesItWhole) {
  const auto problem = std::make_shared<toys::CheapestWalk>(3);
  const auto make = [&](std::int64_t chunk) {
    const auto model = std::make_shared<ResNetWalk>(*problem, ResNetOptions{.width = 2});
    AmortizedOptions options;
    options.samples = 4;
    options.chunk = chunk;
    return std::make_unique<AmortizedLoss>(problem, InferenceModel{model, nullptr},
                                           std::make_unique<CertainBeliefs>(problem->worlds()), options, seeded(1));
  };
  EXPECT_THROW(make(8), UsageError);
  const auto whole = make(0);
  whole->update(Rate{});
  EXPECT_THROW(whole->join({.rank = 0, .size = 2, .add_up = [](torch::Tensor&) {}}), UsageError);
}

// With solutions q learns on perceived beliefs from worlds that it draws itself, and those differ from process to
// process; without perceived beliefs all draws are the same everywhere.
TEST(Amortized, PartnersDrawNothingFromQ) {
  const auto problem = formula_problem(parse_dimacs("p cnf 4 2\n1 2 0\n-3 4 0\n", "test"));
  const auto make = [&](Policy policy, bool perceived) {
    AmortizedOptions options;
    options.samples = 4;
    options.variant = Variant::kPrune;
    options.policy = policy;
    options.perceived = perceived;
    return std::make_unique<AmortizedLoss>(problem, make_model(*problem, "mlp", /*explain=*/true, {"width=8"}),
                                           std::make_unique<FixedDirichlet>(problem->worlds(), 1), options, seeded(1));
  };
  const Partners partners{.rank = 0, .size = 2, .add_up = [](torch::Tensor&) {}};
  EXPECT_THROW(make(Policy::kOn, false)->join(partners), UsageError);
  EXPECT_THROW(make(Policy::kBoth, false)->join(partners), UsageError);
  EXPECT_THROW(make(Policy::kSolutions, true)->join(partners), UsageError);
  EXPECT_NO_THROW(make(Policy::kSolutions, false)->join(partners));
  EXPECT_NO_THROW(make(Policy::kOff, true)->join(partners));
}

TEST(Amortized, SolutionsNeedAnOutputThatIsAskedFor) {
  const auto problem = std::make_shared<toys::Addition>(1);
  AmortizedOptions options;
  options.variant = Variant::kPrune;
  options.policy = Policy::kSolutions;
  EXPECT_THROW(AmortizedLoss(problem, make_model(*problem, "mlp", /*explain=*/true, {"width=8"}),
                             std::make_unique<FixedDirichlet>(problem->worlds(), 1), options, seeded(1)),
               UsageError);
}

}  // namespace
}  // namespace anesi
