#include "anesi/io/idx.h"

#include <gtest/gtest.h>

#include <string>

#include "anesi/core/error.h"
#include "anesi/io/files.h"

namespace anesi {
namespace {

std::string error_for(const std::string& contents) {
  try {
    parse_idx(contents, "file");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The magic of unsigned bytes in so many dimensions, then the sizes as given.
std::string header(char dimensions, const std::string& sizes) {
  return std::string("\0\0\x08", 3) + dimensions + sizes;
}

std::string size(unsigned value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

TEST(Idx, ReadsBackWhatItWrote) {
  const TemporaryDirectory directory;
  const torch::Tensor images = torch::randint(0, 256, {5, 28, 27}, torch::kUInt8);
  const torch::Tensor labels = torch::randint(0, 10, {300}, torch::kUInt8);
  for (const torch::Tensor& array : {images, labels, images.transpose(1, 2), torch::empty({0}, torch::kUInt8)}) {
    write_idx(directory.path() / "array", array);
    EXPECT_TRUE(torch::equal(read_idx(directory.path() / "array"), array));
  }
}

TEST(Idx, ReadsTheBytesOfTheFormat) {
  const torch::Tensor labels = parse_idx(header(1, size(3)) + "\x05\x01\xff", "file");
  EXPECT_TRUE(torch::equal(labels, torch::tensor({5, 1, 255}, torch::kUInt8)));
  const torch::Tensor image = parse_idx(header(3, size(1) + size(2) + size(2)) + "abcd", "file");
  EXPECT_TRUE(torch::equal(image, torch::tensor({97, 98, 99, 100}, torch::kUInt8).view({1, 2, 2})));
}

TEST(Idx, SaysWhatIsWrongWithAHeader) {
  EXPECT_EQ(error_for(""), "file: the file is empty");
  EXPECT_EQ(error_for("ab"), "file: the file has 2 bytes, less than an IDX header; it is cut short");
  EXPECT_EQ(error_for("\x1f\x8b\x08 and so on"), "file: the file is compressed; unpack it with gunzip");
  EXPECT_EQ(error_for("<html></html>"), "file: this is not an IDX file: its first two bytes are not zero");
  EXPECT_EQ(error_for(std::string("\0\0\x0d\x01", 4) + size(0)),
            "file: elements of IDX type 0x0d; only unsigned bytes (0x08) are read");
  EXPECT_EQ(error_for(header(2, size(0) + size(0))), "file: an array of 2 dimensions; labels have 1 and images 3");
  EXPECT_EQ(error_for(header(0, "")), "file: an array of 0 dimensions; labels have 1 and images 3");
  EXPECT_EQ(error_for(header(3, size(1))), "file: the file has 8 bytes, its IDX header alone 16; it is cut short");
}

TEST(Idx, SaysWhenTheLengthIsNotTheHeaders) {
  EXPECT_EQ(error_for(header(3, size(60'000) + size(28) + size(28)) + std::string(1008, 'x')),
            "file: header says 60,000 images of 28x28 (47,040,016 bytes), the file has 1,024; it is cut short");
  EXPECT_EQ(error_for(header(1, size(2)) + "abc"),
            "file: header says 2 labels (10 bytes), the file has 11; it is too long");
  const unsigned most = 0xffffffffU;
  EXPECT_EQ(error_for(header(1, size(most))),
            "file: header says 4,294,967,295 labels (4,294,967,303 bytes), the file has 8; it is cut short");
  EXPECT_EQ(error_for(header(3, size(most) + size(most) + size(most))),
            "file: header says 4,294,967,295 images of 4294967295x4294967295, more than any file holds; it is damaged");
}

TEST(Idx, NamesTheMissingFile) {
  try {
    read_idx("nowhere/train-images-idx3-ubyte");
    FAIL() << "read a file that is not there";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "nowhere/train-images-idx3-ubyte: cannot read: No such file or directory");
  }
}

TEST(Idx, WritesOnlyWhatTheFormatHolds) {
  EXPECT_THROW(write_idx("file", torch::zeros({3})), Error);
  EXPECT_THROW(write_idx("file", torch::zeros({3, 3}, torch::kUInt8)), Error);
}

}  // namespace
}  // namespace anesi
