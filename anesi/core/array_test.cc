#include "anesi/core/array.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"

namespace anesi {
namespace {

TEST(Array, HoldsValuesOfItsTypeAlone) {
  const auto array = Array::of<float>({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(array.values<float>()[5], 6);
  EXPECT_THROW(array.values<double>(), Error);
  EXPECT_EQ(array.to_string(), "float32 [2, 3]");
  EXPECT_EQ(array.bytes(), 24);
  EXPECT_NE(array, Array::of<float>({3, 2}, array.values<float>()));
  EXPECT_THROW(Array::of<float>({2, 2}, array.values<float>()), Error);
  EXPECT_THROW(Array(NumberType::kFloat64, {1LL << 50}), Error);
}

}  // namespace
}  // namespace anesi
