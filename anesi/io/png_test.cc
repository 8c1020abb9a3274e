#include "anesi/io/png.h"

#include <gtest/gtest.h>

namespace anesi {
namespace {

TEST(Png, IsWhatTheFormatSaysForOnePixel) {
  // Made once by another program, without compression.
  EXPECT_EQ(base64(png_of(Array::of<std::uint8_t>({1, 1}, std::vector<std::uint8_t>{200}))),
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAADUlEQVR4AQECAP3/AMgAygDJrWMjsgAAAABJRU5ErkJggg==");
}

TEST(Png, Base64OfEveryRemainder) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Png, RefusesWhatIsNoPicture) {
  EXPECT_ANY_THROW(png_of(Array(NumberType::kFloat32, {3, 3})));
  EXPECT_ANY_THROW(png_of(Array(NumberType::kUInt8, {3, 3, 4})));
}

}  // namespace
}  // namespace anesi
