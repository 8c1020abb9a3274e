#include "anesi/discover/spectral_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "anesi/core/index.h"

namespace anesi {
namespace {

constexpr int kMostSweeps = 100;
constexpr double kNothing = 1e-14;  // of the largest entry

Matrix<double> laplacian_of(const Matrix<double>& weights) {
  Matrix<double> laplacian(weights.size(), weights.size());
  for (std::int64_t i = 0; i < weights.size(); ++i) {
    for (std::int64_t j = 0; j < weights.size(); ++j) {
      if (i == j) continue;
      laplacian[i][as_size(j)] = -weights[i][as_size(j)];
      laplacian[i][as_size(i)] += weights[i][as_size(j)];
    }
  }
  return laplacian;
}

// One step of Jacobi's method: turns the p-th and q-th coordinates so that the entry between them becomes zero. Rows of
// `vectors` are turned alike.
void rotate(Matrix<double>& matrix, Matrix<double>& vectors, std::int64_t p, std::int64_t q) {
  const auto at_p = as_size(p), at_q = as_size(q);
  const double half_cotangent = (matrix[q][at_q] - matrix[p][at_p]) / (2 * matrix[p][at_q]);
  const double tangent =
      std::copysign(1.0, half_cotangent) / (std::abs(half_cotangent) + std::hypot(half_cotangent, 1));
  const double cosine = 1 / std::hypot(tangent, 1), sine = tangent * cosine;
  const auto turn = [&](double& one, double& other) {
    const double before = one;
    one = cosine * before - sine * other;
    other = sine * before + cosine * other;
  };
  for (std::int64_t k = 0; k < matrix.size(); ++k) turn(matrix[k][at_p], matrix[k][at_q]);
  for (std::size_t k = 0; k < as_size(matrix.size()); ++k) {
    turn(matrix[p][k], matrix[q][k]);
    turn(vectors[p][k], vectors[q][k]);
  }
}

}  // namespace

std::vector<std::int64_t> spectral_order(const Matrix<double>& weights) {
  const auto size = weights.size();
  auto matrix = laplacian_of(weights);
  double largest = 0;
  for (const double entry : matrix.values()) largest = std::max(largest, std::abs(entry));
  Matrix<double> vectors(size, size);  // eigenvectors, once the matrix is diagonal
  for (std::int64_t i = 0; i < size; ++i) vectors[i][as_size(i)] = 1;
  bool turned = true;
  for (int sweep = 0; sweep < kMostSweeps && turned; ++sweep) {
    turned = false;
    for (std::int64_t p = 0; p < size; ++p) {
      for (auto q = p + 1; q < size; ++q) {
        if (std::abs(matrix[p][as_size(q)]) <= kNothing * largest) continue;
        rotate(matrix, vectors, p, q);
        turned = true;
      }
    }
  }
  std::vector<std::int64_t> by_eigenvalue(as_size(size)), order(as_size(size));
  std::iota(by_eigenvalue.begin(), by_eigenvalue.end(), 0);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(by_eigenvalue, {}, [&](auto index) { return matrix[index][as_size(index)]; });
  if (size < 2) return order;
  const auto second = vectors[by_eigenvalue[1]];
  std::ranges::stable_sort(order, {}, [&](auto vertex) { return second[as_size(vertex)]; });
  return order;
}

}  // namespace anesi
