#include "anesi/core/score.h"

#include <algorithm>

namespace anesi {

std::vector<float> regret(const Problem& problem, PointRows worlds, PointRows outputs) {
  const auto* const score = problem.facts().find<Score>();
  if (score != nullptr && score->regret) return score->regret(worlds, outputs);
  const auto own = apply(problem, worlds);
  std::vector<float> regrets;
  for (std::int64_t row = 0; row < worlds.size(); ++row) {
    regrets.push_back(std::ranges::equal(own[row], outputs[row]) ? 0.0F : 1.0F);
  }
  return regrets;
}

std::vector<float> distance(const Problem& problem, PointRows worlds, PointRows outputs, PointRows wanted) {
  const auto* const score = problem.facts().find<Score>();
  if (score != nullptr && score->distance) return score->distance(worlds, outputs, wanted);
  std::vector<float> distances;
  for (std::int64_t row = 0; row < outputs.size(); ++row) {
    std::int64_t differ = 0;
    for (std::size_t variable = 0; variable < outputs[row].size(); ++variable) {
      differ += outputs[row][variable] != wanted[row][variable] ? 1 : 0;
    }
    distances.push_back(static_cast<float>(differ) / static_cast<float>(outputs.width()));
  }
  return distances;
}

}  // namespace anesi
