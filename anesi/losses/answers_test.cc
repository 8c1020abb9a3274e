// Every exact back end beside the oracle, on random problems: log-probabilities of labels of every kind and their
// gradients, marginals, most probable worlds, ranked explanations, ranked outputs and samples.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "anesi/losses/observed_log_prob.h"
#include "anesi/models/exact_model.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/testing/random_problems.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

using toys::Chances;
using toys::Gradient;
using toys::Label;
using toys::LogBelief;
using toys::Oracle;

struct Case {
  std::string name;
  std::shared_ptr<const Problem> problem;
  std::vector<std::pair<std::string, std::shared_ptr<const ExactInference>>> methods;
};

Case random_case(Chances& chances) {
  Case result;
  const auto add = [&](const std::string& method) {
    result.methods.emplace_back(method, make_exact(*result.problem, {.method = method}));
  };
  const auto kind = chances.between(0, 3);
  if (kind == 0) {
    result = {
        "machine", std::make_shared<toys::RandomMachine>(static_cast<std::uint64_t>(chances.between(0, 1 << 30))), {}};
    add("automaton");
    add("circuit");
    add("conditioned");
  } else if (kind == 1) {
    result = {"function", toys::random_function(chances), {}};
    if (result.problem->facts().find<Cnf>() != nullptr) {
      add("circuit");
      add("conditioned");
    }
  } else if (kind == 2) {
    result = {"tables", toys::random_tables(chances, /*apart=*/true), {}};
    add("tables");
  } else {
    result = {"constraint", toys::random_constraint(chances), {}};
    add("circuit");
    add("conditioned");
  }
  add("enumerate");
  return result;
}

torch::Tensor tensor_of_belief(const LogBelief& belief, std::int64_t width) {
  auto logs = torch::full({std::ssize(belief), width}, 7, torch::kFloat64);  // what stands past a domain does not count
  for (std::size_t i = 0; i < belief.size(); ++i) {
    for (std::size_t v = 0; v < belief[i].size(); ++v) {
      logs[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(v)] = belief[i][v];
    }
  }
  return logs;
}

Observations observed(const Label& label) {
  Observations seen;
  if (!label.output.empty()) seen.outputs = tensor_of(label.output).unsqueeze(0);
  if (!label.output.empty()) seen.holds = torch::tensor({label.holds});
  if (!label.world.empty()) seen.worlds = tensor_of(label.world).unsqueeze(0);
  return seen;
}

// 1e-9 relative where numbers are large.
testing::AssertionResult near(double found, double expected) {
  if (found == expected) return testing::AssertionSuccess();
  if (std::abs(found - expected) <= 1e-9 * std::max(1.0, std::abs(expected))) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "found " << found << ", expected " << expected;
}

class Beside {
 public:
  Beside(const Oracle& oracle, const ExactInference& exact, const LogBelief& belief)
      : oracle_(oracle),
        exact_(exact),
        belief_(belief),
        logs_(tensor_of_belief(belief, exact.worlds().largest_domain() + 1).unsqueeze(0)) {}

  // The derivative by logits, from that by logarithms.
  Gradient by_logits(const torch::Tensor& slope) const {
    Gradient result;
    for (std::size_t i = 0; i < belief_.size(); ++i) {
      auto& row = result.emplace_back();
      double sum = 0;
      for (std::size_t v = 0; v < belief_[i].size(); ++v) row.push_back(at(slope[0], i, v));
      for (const double value : row) sum += value;
      for (std::size_t v = 0; v < row.size(); ++v) row[v] -= sum * std::exp(belief_[i][v]);
    }
    return result;
  }

  void log_prob(const Label& label) const {
    const auto logs = logs_.clone().requires_grad_();
    const auto found = exact_.label_log_prob(LogBeliefs(logs), observed(label));
    const double expected = oracle_.log_prob(belief_, label);
    ASSERT_TRUE(near(found.item<double>(), expected));
    if (expected == kLogOfZero) return;
    const auto slope = by_logits(torch::autograd::grad({found.sum()}, {logs})[0]);
    expect_same(slope, oracle_.gradient(belief_, label), "gradient");
  }

  void marginals(const Label& label) const {
    const auto found = exact_.marginals(LogBeliefs(logs_), tensor_of(label.output).unsqueeze(0));
    Gradient of_values;
    for (std::size_t i = 0; i < belief_.size(); ++i) {
      auto& row = of_values.emplace_back();
      for (std::size_t v = 0; v < belief_[i].size(); ++v) row.push_back(at(found[0], i, v));
    }
    expect_same(of_values, oracle_.marginals(belief_, label), "marginals");
  }

  void most_probable(const Label& label) const {
    const auto outputs = tensor_of(label.output).unsqueeze(0);
    const auto expected = oracle_.ranked_worlds(belief_, label);
    const auto best = exact_.most_probable(LogBeliefs(logs_), outputs);
    ASSERT_TRUE(near(best.log_prob.item<double>(), expected.empty() ? kLogOfZero : expected[0].log_prob));
    constexpr std::int64_t kTop = 5;
    const auto ranked = exact_.most_probable(LogBeliefs(logs_), outputs, kTop);
    std::set<std::vector<std::int64_t>> seen;
    for (std::int64_t place = 0; place < ranked.values.size(1); ++place) {
      const auto log_prob = ranked.log_prob[0][place].item<double>();
      if (log_prob == kLogOfZero) {
        ASSERT_GE(place, std::ssize(expected)) << "too few worlds";
        break;
      }
      ASSERT_LT(place, std::ssize(expected)) << "too many worlds";
      ASSERT_TRUE(near(log_prob, expected[as_size(place)].log_prob)) << "place " << place;
      const auto world = values_of(ranked.values[0][place]);
      ASSERT_TRUE(seen.insert(world).second) << "a world twice";
      expect_behind(world, label, log_prob);
    }
    ASSERT_EQ(std::ssize(seen), std::min(kTop, std::ssize(expected)));
    if (!expected.empty()) expect_behind(values_of(best.worlds[0]), label, best.log_prob.item<double>());
  }

  void outputs() const {
    if (!exact_.ranks_outputs()) return;
    const auto expected = oracle_.ranked_outputs(belief_);
    const auto ranked = exact_.most_probable_outputs(LogBeliefs(logs_), 1000);
    std::set<std::vector<std::int64_t>> seen;
    for (std::int64_t place = 0; place < ranked.values.size(1); ++place) {
      const auto log_prob = ranked.log_prob[0][place].item<double>();
      if (log_prob == kLogOfZero) break;
      const auto output = values_of(ranked.values[0][place]);
      ASSERT_TRUE(near(log_prob, expected[as_size(place)].log_prob));
      ASSERT_TRUE(near(log_prob, oracle_.log_prob(belief_, {.output = output})));
      seen.insert(output);
    }
    ASSERT_EQ(seen.size(), expected.size());
  }

  void samples(const Label& label, std::uint64_t seed) const {
    constexpr std::int64_t kDraws = 100;
    const auto outputs = tensor_of(label.output).unsqueeze(0).expand({kDraws, -1});
    const LogBeliefs many(logs_.expand({kDraws, -1, -1}));
    const auto expected = oracle_.marginals(belief_, label);
    const bool possible = oracle_.log_prob(belief_, label) > kLogOfZero;
    if (!possible) {
      ASSERT_THROW(exact_.sample(many, outputs, seeded(seed)), Error);
      return;
    }
    const auto drawn = exact_.sample(many, outputs, seeded(seed));
    Gradient shares = expected;
    for (auto& row : shares) std::ranges::fill(row, 0);
    for (std::int64_t draw = 0; draw < kDraws; ++draw) {
      const auto row = row_of(drawn, draw);
      const std::vector<std::int64_t> world(row.begin(), row.end());
      expect_behind(world, label, Oracle::log_prob_of_world(belief_, world));
      for (std::size_t i = 0; i < world.size(); ++i) shares[i][as_size(world[i])] += 1.0 / kDraws;
    }
    for (std::size_t i = 0; i < shares.size(); ++i) {
      for (std::size_t v = 0; v < shares[i].size(); ++v) {
        // Seven standard deviations, and a little for rare values.
        const double p = expected[i][v];
        ASSERT_LE(std::abs(shares[i][v] - p), 7 * std::sqrt(std::max(0.0, p * (1 - p)) / kDraws) + 0.02) << "samples";
      }
    }
  }

 private:
  static double at(const torch::Tensor& values, std::size_t i, std::size_t v) {
    return values[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(v)].item<double>();
  }
  static void expect_same(const Gradient& found, const Gradient& expected, const char* what) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      for (std::size_t v = 0; v < expected[i].size(); ++v) {
        ASSERT_NEAR(found[i][v], expected[i][v], 1e-9) << what << " of variable " << i << ", value " << v;
      }
    }
  }
  void expect_behind(const std::vector<std::int64_t>& world, const Label& label, double log_prob) const {
    ASSERT_TRUE(near(log_prob, Oracle::log_prob_of_world(belief_, world)));
    const auto found = std::ranges::find(oracle_.worlds(), world, &Oracle::World::world);
    ASSERT_TRUE(found != oracle_.worlds().end() && Oracle::gives(*found, label)) << "a world that does not give it";
  }

  const Oracle& oracle_;
  const ExactInference& exact_;
  const LogBelief& belief_;
  torch::Tensor logs_;
};

// ANESI_PROBLEMS asks for another number.
std::int64_t wanted(std::int64_t problems) {
  const char* const other = std::getenv("ANESI_PROBLEMS");
  return other != nullptr ? std::stoll(other) : problems;
}

void compare_with_the_oracle(std::int64_t problems) {
  const toys::RandomSeed seed;
  std::map<std::string, int> asked;
  for (std::int64_t index = 0; index < problems; ++index) {
    Chances chances(seed + 1'000'003 * static_cast<std::uint64_t>(index));
    const auto random = random_case(chances);
    const Oracle oracle(*random.problem);
    for (int example = 0; example < 2; ++example) {
      const auto belief = toys::random_log_belief(chances, random.problem->worlds());
      const auto label = toys::random_label(chances, oracle, random.problem->outputs());
      for (const auto& [method, exact] : random.methods) {
        SCOPED_TRACE(testing::Message() << "problem " << index << ", " << random.name << " by " << method << ": "
                                        << toys::told(belief, label));
        const Beside beside(oracle, *exact, belief);
        beside.log_prob(label);
        if (!label.output.empty()) {
          // Questions are about outputs that hold.
          const Label output{.output = label.output};
          beside.marginals(output);
          beside.most_probable(output);
          if (example == 0) beside.samples(output, static_cast<std::uint64_t>(chances.between(0, 1 << 30)));
        }
        beside.outputs();
        ++asked[random.name + " by " + method];
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
  for (const auto& [what, times] : asked) std::cout << times << " " << what << "\n";
}

TEST(Answers, OfEveryBackEndAreTheOracles) { compare_with_the_oracle(wanted(300)); }

}  // namespace
}  // namespace anesi
