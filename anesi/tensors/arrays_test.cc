#include "anesi/tensors/arrays.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

TEST(Arrays, AreTensorsAndBack) {
  for (const auto type : {torch::kFloat64, torch::kFloat32, torch::kFloat16, torch::kBFloat16, torch::kInt64,
                          torch::kInt32, torch::kInt16, torch::kInt8, torch::kUInt8, torch::kBool}) {
    const auto tensor = (torch::randn({3, 5}) * 3).to(type);
    const auto back = tensor_of(array_of(tensor));
    EXPECT_EQ(back.scalar_type(), type);
    EXPECT_TRUE(torch::equal(back, tensor)) << type;
  }
  for (const auto& tensor : {torch::tensor(2.5), torch::empty({0, 4}), torch::arange(6).view({2, 3}).t(),
                             torch::ones({2}, torch::requires_grad())}) {
    const auto back = tensor_of(array_of(tensor));
    EXPECT_TRUE(torch::equal(back, tensor)) << tensor;
    EXPECT_FALSE(back.requires_grad());
  }
}

TEST(Arrays, KeepTheNumbersOfTensorsThatAreGone) {
  auto array = array_of(torch::arange(1000));
  auto tensor = tensor_of(array);
  array = {};
  EXPECT_EQ(tensor[999].item<std::int64_t>(), 999);
}

TEST(Arrays, OfWhatCannotBeWrittenAreErrorsThatNameIt) {
  const auto one = torch::ones({1});
  for (const auto& tensor : {torch::Tensor(), torch::ones({1}, torch::kComplexFloat), one.to_sparse()}) {
    EXPECT_TRUE(toys::names(toys::message_of([&] { arrays_of({{"weights", tensor}}); }), {"\"weights\""}));
  }
}

}  // namespace
}  // namespace anesi
