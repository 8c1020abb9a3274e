#include "anesi/core/array.h"

#include <gtest/gtest.h>

#include <cstring>

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

TEST(Array, RowsAreTakenAndJoined) {
  const auto array = Array::of<std::int32_t>({3, 2}, std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
  const auto taken = rows_of(array, std::vector<std::int64_t>{2, 0, 2});
  EXPECT_EQ(taken, Array::of<std::int32_t>({3, 2}, std::vector<std::int32_t>{5, 6, 1, 2, 5, 6}));
  EXPECT_EQ(joined(rows_of(array, std::vector<std::int64_t>{0}), rows_of(array, std::vector<std::int64_t>{1, 2})),
            array);
  EXPECT_THROW(joined(array, Array(NumberType::kInt64, {1, 2})), Error);
}

TEST(Array, NumbersOfAnyTypeAreDoubles) {
  const std::vector<double> expected{-2, 0, 0.5};
  EXPECT_EQ(doubles_of(Array::of<float>({3}, std::vector<float>{-2, 0, 0.5F})), expected);
  EXPECT_EQ(doubles_of(Array::of<std::uint8_t>({2}, std::vector<std::uint8_t>{7, 255})), (std::vector<double>{7, 255}));
  // Numbers of 16 bits, by their bits.
  const auto of_bits = [](NumberType type, std::vector<std::uint16_t> bits) {
    Array array(type, {std::ssize(bits)});
    std::memcpy(array.data(), bits.data(), 2 * bits.size());
    return doubles_of(array);
  };
  EXPECT_EQ(of_bits(NumberType::kFloat16, {0xc000, 0x0000, 0x3800, 0x7bff, 0x0001}),
            (std::vector<double>{-2, 0, 0.5, 65504, 0x1p-24}));
  EXPECT_EQ(of_bits(NumberType::kBFloat16, {0xc000, 0x0000, 0x3f00}), expected);
}

}  // namespace
}  // namespace anesi
