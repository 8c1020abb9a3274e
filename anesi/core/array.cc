#include "anesi/core/array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <new>

#include "anesi/core/error.h"

namespace anesi {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

Array::Array(NumberType type, std::vector<std::int64_t> shape) : type_(type), shape_(std::move(shape)) {
  const auto size = static_cast<std::size_t>(bytes());
  void* const memory = ::operator new(size, kAlignment, std::nothrow);
  if (memory == nullptr) throw Error(fmt::format("there is not enough memory for {}", to_string()));
  data_ = std::shared_ptr<void>(memory, [](void* held) { ::operator delete(held, kAlignment); });
}

Array::Array(NumberType type, std::vector<std::int64_t> shape, std::shared_ptr<void> data)
    : type_(type), shape_(std::move(shape)), data_(std::move(data)) {}

std::int64_t Array::count() const {
  std::int64_t product = 1;
  for (const auto size : shape_) product *= size;
  return product;
}

std::string Array::to_string() const { return fmt::format("{} [{}]", facts_of(type_).name, fmt::join(shape_, ", ")); }

bool Array::operator==(const Array& other) const {
  return type_ == other.type_ && shape_ == other.shape_ &&
         (bytes() == 0 || std::memcmp(data(), other.data(), static_cast<std::size_t>(bytes())) == 0);
}

void Array::require(NumberType type) const {
  if (type != type_) throw Error(fmt::format("an array of {} is none of {}", to_string(), facts_of(type).name));
}

void Array::copy_from(const void* values, std::size_t count) {
  if (static_cast<std::int64_t>(count) != this->count()) {
    throw Error(fmt::format("{} values for an array of {}", count, to_string()));
  }
  if (count > 0) std::memcpy(data_.get(), values, static_cast<std::size_t>(bytes()));
}

}  // namespace anesi
