#include "anesi/check/gradient_problems.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "anesi/core/index.h"
#include "anesi/estimate/estimator.h"
#include "anesi/logic/random_formula.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr std::uint64_t kSeedOfFormula = 1;
constexpr int kDear = 5;  // what a dear cell costs; a cheap one costs 1

using OfOne = std::function<double(Values world)>;

Outcomes of_each_world(OfOne one) {
  return [one = std::move(one)](const Draws& draws) {
    const auto worlds = draws.discrete.contiguous();
    auto outcomes = torch::empty({worlds.size(0)}, torch::kFloat64);
    auto* const outcome = outcomes.mutable_data_ptr<double>();
    for (std::int64_t row = 0; row < worlds.size(0); ++row) outcome[row] = one(row_of(worlds, row));
    return outcomes;
  };
}

// Asks about everything when it is first needed.
std::function<torch::Tensor(const Parameters&)> exact_of(const Sources& sources, const Outcomes& g) {
  const std::shared_ptr<Estimator> exact =
      make_estimator("exact", {sources, std::make_shared<BlackBox>(g, 1), seeded(0)}, {"points=33554432"});
  return [exact](const Parameters& parameters) { return exact->expectation(parameters).squeeze(1); };
}

GradientProblem of_binary_variables(std::string name, int variables, bool maximised, OfOne one) {
  GradientProblem problem{.name = std::move(name),
                          .sources = {.categoricals = Space::uniform(variables, 2)},
                          .g = of_each_world(std::move(one)),
                          .maximised = maximised,
                          .start = torch::zeros({variables}, torch::kFloat64),
                          .exact = {}};
  problem.exact = exact_of(problem.sources, problem.g);
  return problem;
}

// Sets of cells are bits; a turn of the loop is a unit of length.
class GridOfTwoCosts {
 public:
  explicit GridOfTwoCosts(int side) : side_(side) {
    for (int row = 0; row < side; ++row) {
      for (int column = 0; column < side; ++column) {
        const auto cell = std::uint64_t{1} << (row * side + column);
        all_ |= cell;
        if (column > 0) not_first_ |= cell;
        if (column < side - 1) not_last_ |= cell;
      }
    }
  }

  double length(Values is_dear) const {
    std::uint64_t dear = 0;
    for (std::size_t cell = 0; cell < is_dear.size(); ++cell) {
      dear |= static_cast<std::uint64_t>(is_dear[cell]) << cell;
    }
    const auto goal = std::uint64_t{1} << (side_ * side_ - 1);
    int length = (dear & 1) != 0 ? kDear : 1;
    // What was reached 0, 1, …, kDear - 1 units ago.
    std::array<std::uint64_t, kDear> reached{1};
    while ((reached[0] & goal) == 0) {
      const auto now = reached[0] | (beside(reached[0]) & ~dear) | (beside(reached[kDear - 1]) & dear);
      std::ranges::copy_backward(reached.begin(), reached.end() - 1, reached.end());
      reached[0] = now;
      ++length;
    }
    return length;
  }

 private:
  std::uint64_t beside(std::uint64_t cells) const {
    return ((cells & not_last_) << 1 | (cells & not_first_) >> 1 | cells << side_ | cells >> side_) & all_;
  }

  int side_;
  std::uint64_t all_ = 0, not_first_ = 0, not_last_ = 0;
};

}  // namespace

Parameters GradientProblem::parameters_of(const torch::Tensor& numbers) const {
  if (sources.normals > 0) {
    return {
        {}, numbers.slice(0, 0, sources.normals).unsqueeze(0), numbers.slice(0, sources.normals).exp().unsqueeze(0)};
  }
  return {torch::stack({(-numbers).sigmoid(), numbers.sigmoid()}, 1).unsqueeze(0), {}, {}};
}

GradientProblem shifted_square() {
  return of_binary_variables("(b - 0.499)^2", 1, /*maximised=*/false, [](Values b) {
    const auto off = static_cast<double>(b[0]) - 0.499;
    return off * off;
  });
}

GradientProblem random_max_sat(int variables, int clauses, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto formula = random_formula(variables, clauses, 3, random).clauses();
  return of_binary_variables("MAX-SAT", variables, /*maximised=*/true, [formula](Values world) {
    const auto holds = [&](const std::vector<int>& clause) {
      return std::ranges::any_of(
          clause, [&](int literal) { return (world[as_size(std::abs(literal) - 1)] == 1) == (literal > 0); });
    };
    return static_cast<double>(std::ranges::count_if(formula, holds));
  });
}

GradientProblem grid_path_length(int side) {
  return of_binary_variables("shortest path", side * side, /*maximised=*/false,
                             [grid = GridOfTwoCosts(side)](Values is_dear) { return grid.length(is_dear); });
}

GradientProblem gaussian_step() {
  return {.name = "Gaussian step",
          .sources = {.normals = 1},
          .g = [](const Draws& draws) { return draws.real.squeeze(1).gt(1).to(torch::kFloat64); },
          .start = torch::zeros({2}, torch::kFloat64),
          .exact =
              [](const Parameters& parameters) {
                const auto above = (parameters.mean - 1) / parameters.deviation;
                return 0.5 * torch::erfc(-above / std::numbers::sqrt2).squeeze(1);
              }};
}

std::vector<GradientProblem> gradient_problems() {
  return {shifted_square(), random_max_sat(20, 91, kSeedOfFormula), grid_path_length(5), gaussian_step()};
}

}  // namespace anesi
