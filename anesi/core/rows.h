// Batches of points: rows of numbers that lie one after another in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "anesi/core/random.h"
#include "anesi/core/space.h"

namespace anesi {

// A view of `size()` rows, each `width()` numbers long. Whoever made it keeps the numbers.
template <typename T>
class Rows {
 public:
  Rows() = default;
  Rows(T* data, std::int64_t size, std::int64_t width) : data_(data), size_(size), width_(width) {}
  // A view of rows that may be written is one of rows that may be read.
  template <typename U>
  requires std::is_same_v<const U, T> Rows(const Rows<U>& other)  // NOLINT(google-explicit-constructor)
      : data_(other.data()), size_(other.size()), width_(other.width()) {}

  std::int64_t size() const { return size_; }
  std::int64_t width() const { return width_; }
  T* data() const { return data_; }
  std::span<T> operator[](std::int64_t row) const { return {data_ + row * width_, static_cast<std::size_t>(width_)}; }
  std::span<T> values() const { return {data_, static_cast<std::size_t>(size_ * width_)}; }
  Rows slice(std::int64_t begin, std::int64_t end) const { return {data_ + begin * width_, end - begin, width_}; }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0, width_ = 0;
};

// Rows with memory of their own.
template <typename T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::int64_t size, std::int64_t width, T value = {})
      : size_(size), width_(width), values_(static_cast<std::size_t>(size * width), value) {}
  explicit Matrix(const Rows<const T>& rows)
      : size_(rows.size()), width_(rows.width()), values_(rows.values().begin(), rows.values().end()) {}
  // Rows of one length.
  Matrix(std::initializer_list<std::initializer_list<T>> rows) : size_(static_cast<std::int64_t>(rows.size())) {
    for (const auto& row : rows) {
      width_ = static_cast<std::int64_t>(row.size());
      values_.insert(values_.end(), row.begin(), row.end());
    }
  }

  std::int64_t size() const { return size_; }
  std::int64_t width() const { return width_; }
  std::span<T> operator[](std::int64_t row) { return rows()[row]; }
  std::span<const T> operator[](std::int64_t row) const { return rows()[row]; }
  const std::vector<T>& values() const { return values_; }
  Rows<T> rows() { return {values_.data(), size_, width_}; }
  Rows<const T> rows() const { return {values_.data(), size_, width_}; }
  operator Rows<T>() { return rows(); }              // NOLINT(google-explicit-constructor)
  operator Rows<const T>() const { return rows(); }  // NOLINT(google-explicit-constructor)

  bool operator==(const Matrix&) const = default;

 private:
  std::int64_t size_ = 0, width_ = 0;
  std::vector<T> values_;
};

using Points = Matrix<std::int64_t>;  // worlds or outputs
using PointRows = Rows<const std::int64_t>;
using MutablePointRows = Rows<std::int64_t>;

// Every point of a small space, the last variable running fastest.
Points all_points(const Space& space);

// Points drawn at random, all equally likely.
Points random_points(const Space& space, std::int64_t count, Random& random);

// The rows at these places, in that order.
Points rows_at(PointRows rows, const std::vector<std::int64_t>& places);

// Where two batches of as many rows differ.
std::vector<std::int64_t> differing_rows(PointRows one, PointRows other);

// Batches one after another; those without rows do not count.
Points joined(const std::vector<PointRows>& batches);

}  // namespace anesi
