#include "anesi/flow/problem_flow.h"

#include <algorithm>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"

namespace anesi {

FlowNetwork make_flow_network(const Problem& problem, FlowView view) {
  const auto& worlds = problem.worlds();
  if (worlds.points() > static_cast<double>(kMostFlowStates)) {
    throw Error("flow network: the problem has too many worlds to go through");
  }
  const auto outputs = apply(problem, points_of(worlds)).contiguous();
  std::int64_t row = 0;  // worlds come in the order of points_of
  const auto output_of = [&](Values, MutableValues output) {
    std::ranges::copy(row_of(outputs, row++), output.begin());
  };
  return FlowNetwork(worlds, problem.outputs(), output_of, view);
}

WorldBeliefs world_beliefs(const torch::Tensor& belief, const Space& worlds) {
  const auto numbers = belief.to(torch::kCPU, torch::kFloat64).contiguous();
  WorldBeliefs beliefs;
  for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
    const auto* const first = numbers.const_data_ptr<double>() + variable * numbers.size(1);
    beliefs.emplace_back(first, first + worlds.domain(variable));
  }
  return beliefs;
}

}  // namespace anesi
