#include "anesi/predict/renaming.h"

#include <algorithm>
#include <limits>

#include "anesi/core/space.h"

namespace anesi {

std::vector<std::size_t> best_assignment(const std::vector<std::vector<double>>& gain) {
  // Rows enter one after another, each by a shortest augmenting path in reduced costs (cost = -gain). Index 0 stands
  // for "nothing yet": rows and columns count from 1.
  const auto size = gain.size();
  std::vector<double> row_potential(size + 1, 0), column_potential(size + 1, 0);
  std::vector<std::size_t> row_of(size + 1, 0), previous(size + 1, 0);
  for (std::size_t row = 1; row <= size; ++row) {
    row_of[0] = row;
    std::size_t column = 0;
    std::vector<double> shortest(size + 1, std::numeric_limits<double>::infinity());
    std::vector<bool> done(size + 1, false);
    do {
      done[column] = true;
      const auto from = row_of[column];
      std::size_t nearest = 0;
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t next = 1; next <= size; ++next) {
        if (done[next]) continue;
        const auto reduced = -gain[from - 1][next - 1] - row_potential[from] - column_potential[next];
        if (reduced < shortest[next]) {
          shortest[next] = reduced;
          previous[next] = column;
        }
        if (shortest[next] < least) {
          least = shortest[next];
          nearest = next;
        }
      }
      for (std::size_t other = 0; other <= size; ++other) {
        if (done[other]) {
          row_potential[row_of[other]] += least;
          column_potential[other] -= least;
        } else {
          shortest[other] -= least;
        }
      }
      column = nearest;
    } while (row_of[column] != 0);
    for (; column != 0; column = previous[column]) row_of[column] = row_of[previous[column]];
  }
  std::vector<std::size_t> column_of(size);
  for (std::size_t column = 1; column <= size; ++column) column_of[row_of[column] - 1] = column - 1;
  return column_of;
}

std::vector<std::int64_t> best_renaming(const torch::Tensor& worlds, const torch::Tensor& truth, std::int64_t values) {
  const auto known = truth != kUnset;
  const auto pairs = worlds.masked_select(known) * values + truth.masked_select(known);
  const auto counts = torch::bincount(pairs, {}, values * values).to(torch::kFloat64).contiguous();
  std::vector<std::vector<double>> gain(static_cast<std::size_t>(values));
  for (std::int64_t value = 0; value < values; ++value) {
    const auto* const row = counts.const_data_ptr<double>() + value * values;
    gain[static_cast<std::size_t>(value)].assign(row, row + values);
  }
  const auto columns = best_assignment(gain);
  return {columns.begin(), columns.end()};
}

double share_right(const torch::Tensor& worlds, const torch::Tensor& truth, bool names) {
  const auto known = truth != kUnset;
  const auto count = known.sum().item<double>();
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  auto read = worlds;
  if (names) {
    const auto values = std::max(worlds.max().item<std::int64_t>(), truth.max().item<std::int64_t>()) + 1;
    read = torch::tensor(best_renaming(worlds, truth, values)).index_select(0, worlds.reshape(-1)).view(worlds.sizes());
  }
  return (read == truth).logical_and(known).sum().item<double>() / count;
}

}  // namespace anesi
