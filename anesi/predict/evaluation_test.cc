#include "anesi/predict/evaluation.h"

#include <gtest/gtest.h>

namespace anesi {
namespace {

TEST(ExpectedCalibrationError, IsTheGapBetweenConfidenceAndAccuracy) {
  const auto confidence = torch::tensor({0.9F, 0.9F, 0.9F, 0.9F, 0.1F, 0.1F});
  const auto right = torch::tensor({1, 1, 1, 0, 0, 0}).to(torch::kBool);
  // Four answers at 0.9 of which three are right, two at 0.1 of which none is.
  EXPECT_NEAR(expected_calibration_error(confidence, right), (4 * 0.15 + 2 * 0.1) / 6, 1e-6);
}

}  // namespace
}  // namespace anesi
