// Circuits beside the truth, found by going through all worlds: every query, of random constraints, functions and
// machines.
#include "anesi/exact/circuit_backend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random_problems.h"
#include "anesi/testing/random_seed.h"
#include "anesi/testing/toy_problems.h"

namespace anesi {
namespace {

using toys::Chances;
using toys::LogBelief;
using toys::Oracle;

std::shared_ptr<const Problem> random_problem(Chances& chances) {
  const auto kind = chances.between(0, 2);
  if (kind == 0) return std::make_shared<toys::RandomMachine>(static_cast<std::uint64_t>(chances.between(0, 1 << 30)));
  if (kind == 1) return toys::random_constraint(chances);
  while (true) {
    auto problem = toys::random_function(chances);
    if (problem->facts().find<Cnf>() != nullptr) return problem;
  }
}

// Queries of random beliefs, and outputs that are given by a world as a rule and partly open.
struct Batch {
  Batch(Chances& chances, const Problem& problem, const Oracle& oracle, std::int64_t size)
      : width(problem.worlds().largest_domain() + 1),
        logs(as_size(size * problem.worlds().variables() * width), 7.0),  // what stands past a domain does not count
        directions(logs.size()),
        outputs(size, problem.outputs().variables()) {
    for (auto& entry : directions) entry = chances.normal();
    for (std::int64_t row = 0; row < size; ++row) {
      beliefs.push_back(toys::random_log_belief(chances, problem.worlds()));
      for (std::size_t i = 0; i < beliefs.back().size(); ++i) {
        for (std::size_t v = 0; v < beliefs.back()[i].size(); ++v) {
          logs[place(row, i, v)] = beliefs.back()[i][v];
        }
      }
      const auto& world = oracle.worlds()[as_size(chances.between(0, std::ssize(oracle.worlds()) - 1))];
      std::ranges::copy(world.output, outputs[row].begin());
      const auto open = chances.between(0, 3), other = chances.between(0, 3);
      for (std::size_t variable = 0; variable < outputs[row].size(); ++variable) {
        auto& asked = outputs[row][variable];
        const auto domain = problem.outputs().domain(static_cast<std::int64_t>(variable));
        if (chances.chance(0.05)) asked = chances.between(0, domain - 1);
        if (open == 0 && chances.chance(0.5)) asked = kUnset;
        if (other == 0 && chances.chance(0.5)) asked = other_than(chances.between(-1, domain - 1));
      }
    }
  }

  std::size_t place(std::int64_t row, std::size_t i, std::size_t v) const {
    return (as_size(row) * beliefs[0].size() + i) * as_size(width) + v;
  }
  LogBeliefRows rows(const std::vector<double>& numbers) const {
    const auto size = outputs.size();
    const auto variables = size == 0 ? 0 : std::ssize(beliefs[0]);
    return {numbers.data(), size, variables, width};
  }
  Query query() const { return {rows(logs), outputs}; }

  std::int64_t width;
  std::vector<double> logs, directions;
  Points outputs;
  std::vector<LogBelief> beliefs;
};

// Worlds of positive probability, and how likely each is among all of them.
struct Truth {
  Truth(const Oracle& oracle, const LogBelief& belief, Values asked, bool others = false) {
    for (const auto& [world, output] : oracle.worlds()) {
      bool admitted = true;
      for (std::size_t variable = 0; variable < output.size(); ++variable) {
        admitted &= admits(asked[variable], output[variable]);
      }
      const auto log = Oracle::log_prob_of_world(belief, world);
      if (admitted == others || log == kLogOfZero) continue;
      worlds.push_back(world);
      logs.push_back(log);
    }
    log_prob = log_sum(logs);
  }
  // E[of(world, its log p(w|P))].
  template <typename Of>
  double mean(Of of) const {
    double sum = 0;
    for (std::size_t world = 0; world < worlds.size(); ++world) {
      sum += std::exp(logs[world] - log_prob) * of(worlds[world], logs[world]);
    }
    return sum;
  }
  double marginal(std::size_t i, std::size_t v) const {
    return mean([&](const auto& world, double) { return as_size(world[i]) == v ? 1.0 : 0.0; });
  }
  // The covariance of [w_i = v] with of(world, its log p(w|P)).
  template <typename Of>
  double covariance(std::size_t i, std::size_t v, Of of) const {
    const auto mean_of = mean(of);
    return mean([&](const auto& world, double log) { return as_size(world[i]) == v ? of(world, log) - mean_of : 0.0; });
  }

  std::vector<std::vector<std::int64_t>> worlds;
  std::vector<double> logs;
  double log_prob;
};

void expect_near(double found, double expected, double scale, const char* what) {
  if (found == expected) return;
  ASSERT_LE(std::abs(found - expected), 1e-9 * std::max(1.0, scale)) << what << ": " << found << ", not " << expected;
}

// What a back end says of a batch.
struct Answers {
  Answers(const Backend& backend, const Batch& batch, const Query& query)
      : log_probs(as_size(query.size())),
        of_others(log_probs),
        best(log_probs),
        entropies(log_probs),
        slopes(as_size(query.size() * query.logs.row_size()), 1.0),
        slopes_of_others(slopes),
        slopes_of_entropy(slopes),
        products(slopes),
        worlds(query.size(), query.logs.variables) {
    const auto rows = [&](std::vector<double>& numbers) {
      return GradientRows(numbers.data(), query.size(), query.logs.variables, query.logs.width);
    };
    backend.log_prob(query, log_probs, rows(slopes));
    backend.log_prob_of_others(query, of_others, rows(slopes_of_others));
    backend.most_probable(query, worlds, best);
    backend.entropy(query, entropies, rows(slopes_of_entropy));
    const auto first = (query.logs.data - batch.logs.data());
    backend.hessian_product(
        query, {batch.directions.data() + first, query.size(), query.logs.variables, query.logs.width}, rows(products));
    for (auto& [points, probs] : backend.ranked_worlds(query, 5)) {
      ranked.push_back(points);
      log_probs_of_ranked.push_back(probs);
    }
  }

  std::vector<double> log_probs, of_others, best, entropies, slopes, slopes_of_others, slopes_of_entropy, products;
  Points worlds;
  std::vector<Points> ranked;
  std::vector<std::vector<double>> log_probs_of_ranked;
};

void check_row(const Answers& found, const Batch& batch, const Oracle& oracle, std::int64_t row) {
  const auto& belief = batch.beliefs[as_size(row)];
  const Truth truth(oracle, belief, batch.outputs[row]), others(oracle, belief, batch.outputs[row], true);
  const auto index = as_size(row);
  expect_near(found.log_probs[index], truth.log_prob, std::abs(truth.log_prob), "log p");
  expect_near(found.of_others[index], others.log_prob, std::abs(others.log_prob), "log p of others");
  const auto entropy = -truth.mean([&](const auto&, double log) { return log - truth.log_prob; });
  expect_near(found.entropies[index], entropy, 1, "entropy");
  const auto largest = [&] {
    double size = 1;
    for (const auto log : truth.logs) size = std::max(size, std::abs(log));
    return size;
  }();
  for (std::size_t i = 0; i < belief.size(); ++i) {
    for (std::size_t v = 0; v < belief[i].size(); ++v) {
      const auto place = batch.place(row, i, v);
      expect_near(found.slopes[place], truth.marginal(i, v), 1, "gradient");
      expect_near(found.slopes_of_others[place], others.marginal(i, v), 1, "gradient of others");
      const auto of_entropy = truth.covariance(i, v, [](const auto&, double log) { return -log; });
      expect_near(found.slopes_of_entropy[place], of_entropy, largest, "gradient of the entropy");
      const auto product = truth.covariance(i, v, [&](const auto& world, double) {
        double sum = 0;
        for (std::size_t j = 0; j < world.size(); ++j) sum += batch.directions[batch.place(row, j, as_size(world[j]))];
        return sum;
      });
      expect_near(found.products[place], product, 1, "Hessian product");
    }
  }
  auto ranked = truth.logs;
  std::ranges::sort(ranked, std::greater{});
  expect_near(found.best[index], ranked.empty() ? kLogOfZero : ranked[0], largest, "the best world");
  const auto& points = found.ranked[index];
  ASSERT_EQ(points.size(), std::min<std::int64_t>(5, std::ssize(ranked)));
  const auto expect_world = [&](Values world, double log) {
    const auto place =
        std::ranges::find_if(truth.worlds, [&](const auto& it) { return std::ranges::equal(it, world); });
    ASSERT_TRUE(place != truth.worlds.end()) << "a world that does not give the output";
    expect_near(log, truth.logs[as_size(place - truth.worlds.begin())], largest, "log p of a world");
  };
  if (!ranked.empty()) expect_world(found.worlds[row], found.best[index]);
  std::set<std::vector<std::int64_t>> seen;
  for (std::int64_t place = 0; place < points.size(); ++place) {
    const auto log = found.log_probs_of_ranked[index][as_size(place)];
    expect_near(log, ranked[as_size(place)], largest, "ranked worlds");
    expect_world(points[place], log);
    ASSERT_TRUE(seen.emplace(points[place].begin(), points[place].end()).second) << "a world twice";
  }
}

// Numbers that are the same, bit by bit, in the first rows of each.
void expect_same(const Answers& all, const Answers& some, std::int64_t first, std::int64_t rows,
                 std::int64_t row_size) {
  const auto same = [&](const std::vector<double>& numbers, const std::vector<double>& others, std::int64_t each) {
    return std::equal(others.begin(), others.begin() + rows * each, numbers.begin() + first * each);
  };
  EXPECT_TRUE(same(all.log_probs, some.log_probs, 1));
  EXPECT_TRUE(same(all.of_others, some.of_others, 1));
  EXPECT_TRUE(same(all.best, some.best, 1));
  EXPECT_TRUE(same(all.entropies, some.entropies, 1));
  EXPECT_TRUE(same(all.slopes, some.slopes, row_size));
  EXPECT_TRUE(same(all.slopes_of_others, some.slopes_of_others, row_size));
  EXPECT_TRUE(same(all.slopes_of_entropy, some.slopes_of_entropy, row_size));
  EXPECT_TRUE(same(all.products, some.products, row_size));
  for (std::int64_t row = 0; row < rows; ++row) {
    EXPECT_TRUE(std::ranges::equal(all.worlds[first + row], some.worlds[row]));
    EXPECT_TRUE(all.ranked[as_size(first + row)] == some.ranked[as_size(row)]);
  }
}

void check_samples(const Backend& backend, const Batch& batch, const Oracle& oracle, std::uint64_t seed) {
  constexpr std::int64_t kDraws = 200;
  const Truth truth(oracle, batch.beliefs[0], batch.outputs[0]);
  std::vector<double> logs;
  Points outputs(kDraws, batch.outputs.width()), worlds(kDraws, std::ssize(batch.beliefs[0]));
  for (std::int64_t draw = 0; draw < kDraws; ++draw) {
    logs.insert(logs.end(), batch.logs.begin(), batch.logs.begin() + batch.query().logs.row_size());
    std::ranges::copy(batch.outputs[0], outputs[draw].begin());
  }
  const Query query{{logs.data(), kDraws, worlds.width(), batch.width}, outputs};
  Random random(seed);
  if (truth.worlds.empty()) {
    EXPECT_THROW(backend.sample(query, random, worlds), Error);
    return;
  }
  backend.sample(query, random, worlds);
  for (std::size_t i = 0; i < batch.beliefs[0].size(); ++i) {
    for (std::size_t v = 0; v < batch.beliefs[0][i].size(); ++v) {
      double share = 0;
      for (std::int64_t draw = 0; draw < kDraws; ++draw) share += as_size(worlds[draw][i]) == v ? 1.0 / kDraws : 0;
      const auto p = truth.marginal(i, v);
      ASSERT_LE(std::abs(share - p), 7 * std::sqrt(std::max(0.0, p * (1 - p)) / kDraws) + 0.02) << "samples";
    }
  }
  for (std::int64_t draw = 0; draw < kDraws; ++draw) {
    ASSERT_TRUE(
        std::ranges::any_of(truth.worlds, [&](const auto& it) { return std::ranges::equal(it, worlds[draw]); }));
  }
}

TEST(CircuitBackend, AnswersAsAllWorldsDo) {
  const toys::RandomSeed seed;
  for (std::uint64_t trial = 0; trial < 80; ++trial) {
    Chances chances(seed + 1'000'003 * trial);
    const auto problem = random_problem(chances);
    const Oracle oracle(*problem);
    const Batch batch(chances, *problem, oracle, chances.one_of<std::int64_t>({1, 5, 17}));
    const std::unique_ptr<Backend> backends[] = {make_circuit_backend(*problem),
                                                 make_conditioned_circuits_backend(*problem)};
    for (const auto& backend : backends) {
      SCOPED_TRACE(testing::Message() << "trial " << trial << (backend == backends[1] ? ", conditioned" : ""));
      const ThreadLimit three(3);
      const Answers found(*backend, batch, batch.query());
      for (std::int64_t row = 0; row < batch.outputs.size(); ++row) check_row(found, batch, oracle, row);
      check_samples(*backend, batch, oracle, trial);
      if (testing::Test::HasFatalFailure()) return;
      const ThreadLimit one(1);
      const auto row_size = batch.query().logs.row_size();
      expect_same(found, Answers(*backend, batch, batch.query()), 0, batch.outputs.size(), row_size);
      const auto last = batch.outputs.size() - 1;
      expect_same(found, Answers(*backend, batch, batch.query().slice(last, last + 1)), last, 1, row_size);
    }
  }
}

TEST(CircuitBackend, TakesBatchesOfAnySize) {
  Chances chances(5);
  const toys::Addition addition(2);
  const Oracle oracle(addition);
  const auto backend = make_circuit_backend(addition);
  backend->log_prob({LogBeliefRows(nullptr, 0, 4, 10), Points(0, 3)}, {});
  const Batch batch(chances, addition, oracle, 1000);
  std::vector<double> found(1000), alone(1);
  backend->log_prob(batch.query(), found);
  for (const std::int64_t row : {0, 7, 8, 500, 999}) {
    backend->log_prob(batch.query().slice(row, row + 1), alone);
    EXPECT_EQ(alone[0], found[as_size(row)]);
    const Truth truth(oracle, batch.beliefs[as_size(row)], batch.outputs[row]);
    expect_near(alone[0], truth.log_prob, std::abs(truth.log_prob), "log p");
  }
}

TEST(CircuitBackend, SaysWhatAProblemLacks) {
  const auto problem = make_problem(Space{2}, Space{2}, [](Values w, MutableValues y) { y[0] = w[0]; });
  EXPECT_TRUE(toys::names(toys::message_of([&] { make_circuit_backend(*problem); }), {"circuit", "Cnf"}));
  EXPECT_TRUE(toys::names(toys::message_of([&] { make_conditioned_circuits_backend(*problem); }), {"circuit", "Cnf"}));
}

}  // namespace
}  // namespace anesi
