#include "anesi/flow/divergences.h"

#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr std::uint64_t kSeedOfTestedBeliefs = 1'000'003;

// 1, 2, 5, 10, … below the last step, and that.
std::vector<std::int64_t> measured_steps(std::int64_t last) {
  std::vector<std::int64_t> steps;
  for (std::int64_t power = 10; power < last; power *= 10) {
    for (const std::int64_t factor : {1, 2, 5}) {
      if (factor * power < last) steps.push_back(factor * power);
    }
  }
  steps.push_back(last);
  return steps;
}

}  // namespace

std::vector<DivergenceCurve> compare_divergences(
    const DivergenceOptions& options, const std::function<void(std::int64_t done, std::int64_t all)>& progress) {
  const auto worlds = Space::uniform(2, options.base);
  const auto network = std::make_shared<const FlowNetwork>(
      worlds, Space{2 * options.base - 1}, [](Values w, MutableValues y) { y[0] = w[0] + w[1]; }, FlowView::kTree);
  FixedDirichlet prior(worlds, options.concentration);
  const auto tested = prior.sample(options.tested, seeded(kSeedOfTestedBeliefs));
  const auto draw = [&](std::int64_t rows, const at::Generator& generator) { return prior.sample(rows, generator); };
  const auto steps = measured_steps(options.learning.steps);
  std::vector<DivergenceCurve> curves;
  const auto objectives = static_cast<std::int64_t>(names_of(Objective{}).size());
  for (std::int64_t objective = 0; objective < objectives; ++objective) {
    auto learning = options.learning;
    learning.objective = static_cast<Objective>(objective);
    auto& curve = curves.emplace_back(DivergenceCurve{learning.objective, {}});
    for (const auto step : steps) curve.points.push_back({step, 0, 0});
    for (std::int64_t seed = 1; seed <= options.seeds; ++seed) {
      const SeededWeights weights(static_cast<std::uint64_t>(seed));
      FlowPolicy policy(network, {.width = options.width});
      std::size_t next = 0;
      learn_flow(policy, draw, learning, static_cast<std::uint64_t>(seed), [&](std::int64_t step) {
        if (next >= steps.size() || step != steps[next]) return;
        const torch::NoGradGuard no_gradients;
        const auto found = flow_divergences(policy, tested);
        auto& point = curve.points[next++];
        point.forward += found.forward.mean().item<double>() / static_cast<double>(options.seeds);
        point.reverse += found.reverse.mean().item<double>() / static_cast<double>(options.seeds);
      });
      if (progress) progress(objective * options.seeds + seed, objectives * options.seeds);
    }
  }
  return curves;
}

}  // namespace anesi
