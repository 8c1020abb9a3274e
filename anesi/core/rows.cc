#include "anesi/core/rows.h"

#include <algorithm>

namespace anesi {

Points all_points(const Space& space) {
  Points points(static_cast<std::int64_t>(space.points()), space.variables());
  std::int64_t row = 0;
  space.for_each_point([&](Values point) { std::ranges::copy(point, points[row++].begin()); });
  return points;
}

Points random_points(const Space& space, std::int64_t count, Random& random) {
  Points points(count, space.variables());
  for (std::int64_t row = 0; row < count; ++row) {
    for (std::int64_t variable = 0; variable < space.variables(); ++variable) {
      points[row][static_cast<std::size_t>(variable)] =
          static_cast<std::int64_t>(random.below(static_cast<std::size_t>(space.domain(variable))));
    }
  }
  return points;
}

}  // namespace anesi
