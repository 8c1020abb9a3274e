// The exact expectation, by asking g about every z once.
#include <fmt/format.h>

#include <unordered_map>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/estimate/decision_diagram.h"
#include "anesi/estimate/estimator.h"

namespace anesi {
namespace {

constexpr std::int64_t kAskedAtOnce = 1 << 14;

struct ExactExpectationOptions {
  std::int64_t points = 1 << 21;
  void describe(OptionTable& table) {
    table.add("points", points, {1, std::int64_t{1} << 30}, "how many different z may be asked about at most");
  }
};

// The points of a space from one place on, int64 [count, variables], the last variable running fastest.
torch::Tensor points_from(const Space& space, std::int64_t begin, std::int64_t count) {
  auto points = torch::empty({count, space.variables()}, torch::kInt64);
  auto* next = points.mutable_data_ptr<std::int64_t>() + points.numel();
  for (auto place = begin + count - 1; place >= begin; --place) {
    auto rest = place;
    for (auto variable = space.variables() - 1; variable >= 0; --variable) {
      *--next = rest % space.domain(variable);
      rest /= space.domain(variable);
    }
  }
  return points;
}

class ExactExpectation final : public Estimator {
 public:
  ExactExpectation(const EstimatorParts& parts, std::int64_t most_points) : Estimator(parts) {
    require_no_normals("exact");
    if (sources().categoricals.points() > static_cast<double>(most_points)) {
      throw UsageError(fmt::format("exact: there are {:.3g} different z, and at most {} may be asked about (points)",
                                   sources().categoricals.points(), most_points));
    }
  }

 protected:
  torch::Tensor estimate(const Parameters& parameters) override {
    if (!diagram_) ask_about_all();
    return diagram_->expectation(parameters.beliefs);
  }

 private:
  void ask_about_all() {
    const torch::NoGradGuard no_gradients;
    const auto& space = sources().categoricals;
    const auto points = static_cast<std::int64_t>(space.points());
    std::vector<std::int32_t> outcome_of(as_size(points));
    std::vector<torch::Tensor> outcomes;
    std::unordered_map<std::string, std::int32_t> known;  // by the bytes of a row of outcomes
    for (std::int64_t begin = 0; begin < points; begin += kAskedAtOnce) {
      const auto count = std::min(kAskedAtOnce, points - begin);
      const auto rows =
          outcomes_of({points_from(space, begin, count), torch::zeros({count, 0}, torch::kFloat64)}).contiguous();
      const auto* const bytes = reinterpret_cast<const char*>(rows.const_data_ptr<double>());
      const auto width = as_size(outcomes_count()) * sizeof(double);
      for (std::int64_t row = 0; row < count; ++row) {
        const auto [found, is_new] = known.try_emplace(std::string(bytes + as_size(row) * width, width),
                                                       static_cast<std::int32_t>(known.size()));
        if (is_new) outcomes.push_back(rows[row].clone());
        outcome_of[as_size(begin + row)] = found->second;
      }
    }
    diagram_.emplace(space, std::move(outcome_of), torch::stack(outcomes));
  }

  std::optional<DecisionDiagram> diagram_;
};

ANESI_ESTIMATOR("exact", "exactly, by asking about every z once", ExactExpectationOptions,
                [](const ExactExpectationOptions& options, const EstimatorParts& parts) -> std::unique_ptr<Estimator> {
                  return std::make_unique<ExactExpectation>(parts, options.points);
                });

}  // namespace
}  // namespace anesi
