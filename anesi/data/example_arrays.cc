#include "anesi/data/example_arrays.h"

#include <memory>
#include <utility>

namespace anesi {

Array array_of(Points points) {
  const auto kept = std::make_shared<Points>(std::move(points));
  return {NumberType::kInt64, {kept->size(), kept->width()}, std::shared_ptr<void>(kept, kept->rows().data())};
}

PointRows points_of(const Array& array) {
  return {array.values<std::int64_t>().data(), array.shape()[0], array.shape()[1]};
}

}  // namespace anesi
