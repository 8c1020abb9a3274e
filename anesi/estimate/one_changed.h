// Every draw with one of its variables changed, to each of the variable's values: what IndeCateR and straight-through
// estimators ask g about.
#pragma once

#include "anesi/estimate/draws.h"

namespace anesi {

// How often g is called for a draw.
inline std::int64_t calls_with_one_changed(const Space& space) {
  std::int64_t calls = 1;
  for (const auto domain : space.domains()) calls += domain - 1;
  return calls;
}

// g of every draw with variable i set to v, double [rows, variables, largest domain, outcomes]; zero past a domain. g
// is asked once about each different z of a row.
template <typename Ask>
torch::Tensor outcomes_with_one_changed(const Draws& draws, const Space& space, std::int64_t outcomes, const Ask& ask) {
  const auto rows = draws.rows(), variables = space.variables();
  const auto each = calls_with_one_changed(space);
  auto worlds = draws.discrete.repeat_interleave(each, 0).contiguous();
  auto place = torch::zeros({rows, variables, space.largest_domain()}, torch::kInt64);  // among those asked about
  auto* const world = worlds.mutable_data_ptr<std::int64_t>();
  auto places = place.accessor<std::int64_t, 3>();
  const auto own = draws.discrete.accessor<std::int64_t, 2>();
  for (std::int64_t row = 0, next = 0; row < rows; ++row) {
    const auto unchanged = next++;
    for (std::int64_t variable = 0; variable < variables; ++variable) {
      for (std::int64_t value = 0; value < space.domain(variable); ++value) {
        const bool is_own = value == own[row][variable];
        if (!is_own) world[next * variables + variable] = value;
        places[row][variable][value] = is_own ? unchanged : next++;
      }
    }
  }
  const auto answers = ask(Draws{worlds, draws.real.repeat_interleave(each, 0)}).detach();
  auto result = answers.index_select(0, place.view(-1)).view({rows, variables, space.largest_domain(), outcomes});
  for (std::int64_t variable = 0; variable < variables; ++variable) {
    result.select(1, variable).slice(1, space.domain(variable)).zero_();
  }
  return result;
}

}  // namespace anesi
