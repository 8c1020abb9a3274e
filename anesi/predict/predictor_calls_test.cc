// A predictor in random sequences of calls, against sums over all worlds; what cannot be asked leaves it as it was.
#include <gtest/gtest.h>

#include <memory>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/models/exact_model.h"
#include "anesi/predict/predictor.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/call_sequences.h"
#include "anesi/testing/lookup.h"
#include "anesi/testing/random.h"
#include "anesi/testing/random_machine.h"
#include "anesi/testing/truth.h"

namespace anesi {
namespace {

using Engine = std::mt19937_64;

class Asking {
 public:
  explicit Asking(std::uint64_t seed)
      : problem_(std::make_shared<toys::RandomMachine>(seed)),
        predictor_({.problem = problem_,
                    .perception = std::make_shared<toys::Lookup>(3),
                    .model = make_exact_model(*problem_, {.method = seed % 2 == 0 ? "automaton" : "enumerate"}),
                    .options = {.beam = 1000},
                    .prunes = seed / 2 % 2 == 0}) {}

  std::string predict(Engine& random) const {
    const auto belief = drawn_belief(random);
    const toys::Truth truth(*problem_, belief[0]);
    const auto found = predictor_.predict(belief, 1 + toys::drawn_below(4, random));
    for (std::int64_t place = 0; place < found.outputs.size(1); ++place) {
      const auto probability = found.probability[0][place].item<double>();
      if (probability == 0) continue;
      if (auto wrong = unlike("of an output", probability, truth.of_output(found.outputs[0][place])); !wrong.empty())
        return wrong;
      if (place > 0 && probability > found.probability[0][place - 1].item<double>() + 1e-9) return "not in order";
    }
    double most = 0;
    for (const auto& output : every_output()) most = std::max(most, truth.of_output(output));
    if (auto wrong = unlike("of the likeliest", found.probability[0][0].item<double>(), most); !wrong.empty())
      return wrong;
    return torch::equal(apply(*problem_, found.worlds), found.symbolic) ? "" : "symbolic is not c of the world";
  }

  std::string marginals(Engine& random) const {
    const auto belief = drawn_belief(random);
    const auto output = drawn_output(random);
    const auto expected = toys::Truth(*problem_, belief[0]).giving(output[0]).marginals();
    const auto found = predictor_.marginals(belief, output)[0];
    return torch::allclose(found, expected, 1e-5, 1e-7) ? "" : "other marginals";
  }

  std::string explain(Engine& random) const {
    const auto belief = drawn_belief(random);
    const auto output = drawn_output(random);
    const auto truth = toys::Truth(*problem_, belief[0]).giving(output[0]);
    const auto found = predictor_.explain(belief, {.output = values_of(output), .top = 2, .by = ExplainedBy::kModel});
    if (found.worlds.empty()) return "no world";
    for (std::size_t place = 0; place < found.worlds.size(); ++place) {
      const auto& [world, probability, of_belief, satisfied, changed] = found.worlds[place];
      if (!satisfied || apply_to(*problem_, world) != values_of(output)) return "a world that gives another output";
      const auto expected = truth.ranked_prob()[static_cast<std::int64_t>(place)].item<double>();
      if (auto wrong = unlike("of a world", probability, expected); !wrong.empty()) return wrong;
    }
    return "";
  }

  std::string most_probable(Engine& random) const {
    const auto belief = drawn_belief(random);
    const auto output = drawn_output(random);
    const auto world = predictor_.most_probable_worlds(belief, output);
    if (!torch::equal(apply(*problem_, world), output)) return "a world that gives another output";
    const auto truth = toys::Truth(*problem_, belief[0]).giving(output[0]);
    return unlike("of the world", truth.where(world[0]).total() / truth.total(), truth.ranked_prob()[0].item<double>());
  }

  std::string sample(Engine& random) const {
    const auto belief = drawn_belief(random);
    const auto output = drawn_output(random);
    const auto worlds = predictor_.sample(belief, output, 5, seeded(random()))[0];
    return torch::equal(apply(*problem_, worlds), output.expand({5, -1})) ? "" : "a world that gives another output";
  }

  std::string condition(Engine& random) const {
    const auto belief = drawn_belief(random);
    const auto all = points_of(problem_->worlds());
    auto known = all[toys::drawn_below(all.size(0), random)].clone();
    for (std::int64_t variable = 0; variable < known.size(0); ++variable) {
      if (toys::drawn_below(2, random) == 0) known[variable] = kUnset;
    }
    const auto truth = toys::Truth(*problem_, belief[0]).where(known);
    const auto found = predictor_.condition(belief, {.worlds = known.unsqueeze(0)});
    if (!torch::allclose(found.beliefs[0], truth.marginals(), 1e-5, 1e-7)) return "other beliefs";
    return unlike("of the evidence", std::exp(found.log_prob[0].item<double>()), truth.total());
  }

  std::string possible(Engine& random) const {
    Row output;
    for (const auto domain : problem_->outputs().domains()) output.push_back(toys::drawn_below(domain, random));
    const auto given_by_some = (apply(*problem_, points_of(problem_->worlds())) == tensor_of(output)).all(1).any();
    const auto found = predictor_.possible(output);
    return found == given_by_some.item<bool>() ? "" : fmt::format("{}, which is not so", found);
  }

  // An error, and nothing else.
  std::string ask_nonsense(Engine& random) const {
    const auto belief = drawn_belief(random);
    const auto variables = problem_->outputs().variables();
    const auto strange = torch::full({1, variables}, 99, torch::kInt64), long_one = torch::zeros({1, 9}, torch::kInt64);
    const std::vector<std::pair<std::string, std::function<void()>>> nonsense{
        {"a belief of too few variables", [&] { predictor_.predict(belief.slice(1, 1)); }},
        {"a belief that is no distribution", [&] { predictor_.predict(2 * belief); }},
        {"marginals of what is no output", [&] { predictor_.marginals(belief, strange); }},
        {"worlds of what is no output", [&] { predictor_.most_probable_worlds(belief, strange); }},
        {"samples of what is no output", [&] { predictor_.sample(belief, strange, 2, seeded(1)); }},
        {"a condition that is no world", [&] { predictor_.condition(belief, {.worlds = long_one}); }},
        {"an explanation of what is no output", [&] { predictor_.explain(belief, {.output = Row(9, 0)}); }},
    };
    const auto& [name, ask] = nonsense[as_size(toys::drawn_below(static_cast<std::int64_t>(nonsense.size()), random))];
    try {
      ask();
    } catch (const Error&) {
      return "";
    }
    return name + " was answered";
  }

 private:
  using Row = std::vector<std::int64_t>;

  torch::Tensor drawn_belief(Engine& random) const {
    return toys::random_beliefs(1, problem_->worlds(), 1.5, seeded(random()));
  }
  // One that some world gives, [1, outputs].
  torch::Tensor drawn_output(Engine& random) const {
    const auto all = points_of(problem_->worlds());
    return apply(*problem_, all[toys::drawn_below(all.size(0), random)].unsqueeze(0));
  }
  std::vector<torch::Tensor> every_output() const { return apply(*problem_, points_of(problem_->worlds())).unbind(0); }
  static std::string unlike(const char* what, double found, double expected) {
    return std::abs(found - expected) < 1e-5 ? "" : fmt::format("probability {}: {}, not {}", what, found, expected);
  }

  std::shared_ptr<const Problem> problem_;
  Predictor predictor_;
};

TEST(PredictorCalls, AnswerWhatAllWorldsSay) {
  const auto make = [](std::uint64_t seed) -> toys::ComparedCalls {
    const auto asking = std::make_shared<Asking>(seed);
    return {{"predict", [asking](Engine& random) { return asking->predict(random); }},
            {"marginals", [asking](Engine& random) { return asking->marginals(random); }},
            {"explain", [asking](Engine& random) { return asking->explain(random); }},
            {"most probable worlds", [asking](Engine& random) { return asking->most_probable(random); }},
            {"sample", [asking](Engine& random) { return asking->sample(random); }},
            {"condition", [asking](Engine& random) { return asking->condition(random); }},
            {"possible", [asking](Engine& random) { return asking->possible(random); }},
            {"nonsense", [asking](Engine& random) { return asking->ask_nonsense(random); }}};
  };
  toys::check_call_sequences(make, 60, 30);
}

}  // namespace
}  // namespace anesi
