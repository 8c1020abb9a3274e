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

Points rows_at(PointRows rows, const std::vector<std::int64_t>& places) {
  Points result(std::ssize(places), rows.width());
  for (std::int64_t row = 0; row < result.size(); ++row) {
    std::ranges::copy(rows[places[static_cast<std::size_t>(row)]], result[row].begin());
  }
  return result;
}

std::vector<std::int64_t> differing_rows(PointRows one, PointRows other) {
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < one.size(); ++row) {
    if (!std::ranges::equal(one[row], other[row])) rows.push_back(row);
  }
  return rows;
}

Points joined(const std::vector<PointRows>& batches) {
  std::int64_t size = 0, width = 0;
  for (const auto& batch : batches) {
    size += batch.size();
    if (batch.size() > 0) width = batch.width();
  }
  Points result(size, width);
  auto* place = result.rows().data();
  for (const auto& batch : batches) place = std::ranges::copy(batch.values(), place).out;
  return result;
}

}  // namespace anesi
