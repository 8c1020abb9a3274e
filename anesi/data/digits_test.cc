#include "anesi/data/digits.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/core/random.h"
#include "anesi/io/files.h"
#include "anesi/io/idx.h"
#include "anesi/testing/environment.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

namespace fs = std::filesystem;

using toys::Environment;

Array labels_up_to(std::int64_t count) {
  Array labels(NumberType::kUInt8, {count});
  for (std::int64_t i = 0; i < count; ++i) {
    labels.values<std::uint8_t>()[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(i % 10);
  }
  return labels;
}

Array noise(std::vector<std::int64_t> shape) {
  Random random(1);
  Array images(NumberType::kUInt8, std::move(shape));
  for (auto& pixel : images.values<std::uint8_t>()) pixel = static_cast<std::uint8_t>(random.below(256));
  return images;
}

class Digits : public ::testing::Test {
 protected:
  Digits() {
    fs::create_directories(data_);
    write("train", noise({30, 28, 28}), labels_up_to(30));
    write("t10k", noise({12, 28, 28}), labels_up_to(12));
  }

  void write(const std::string& set, const Array& images, const Array& labels) {
    write_idx(data_ / (set + "-images-idx3-ubyte"), images);
    write_idx(data_ / (set + "-labels-idx1-ubyte"), labels);
  }

  // What loading the directory says, without the path of the directory.
  std::string error() const {
    try {
      load_digits(data_);
    } catch (const Error& error) {
      const std::string message = error.what();
      return message.substr(data_.string().size() + 1);
    }
    return "no error";
  }

  DigitSets load_and_listen(const std::vector<MnistSource>& sources = {}) {
    return load_digits(
        std::nullopt, [&](const std::string& line) { said_ += line + "\n"; }, sources);
  }

  TemporaryDirectory directory_;
  fs::path data_ = directory_.path() / "data";
  fs::path cache_ = directory_.path() / "cache";
  std::string said_;
  // No test reads what its user has, or reaches out, unless it says so.
  Environment no_data_{"ANESI_DATA", nullptr};
  Environment no_choice_{"ANESI_DIGITS", nullptr};
  Environment own_cache_{"ANESI_CACHE", cache_.c_str()};
  Environment offline_{"ANESI_OFFLINE", "1"};
};

TEST_F(Digits, ComeFromTheDirectoryGiven) {
  const Environment elsewhere("ANESI_DATA", "/nowhere");
  const Environment procedural("ANESI_DIGITS", "procedural");
  const DigitSets digits = load_digits(data_);
  EXPECT_EQ(digits.train.images.shape(), (std::vector<std::int64_t>{30, 28, 28}));
  EXPECT_EQ(digits.test.images.shape(), (std::vector<std::int64_t>{12, 28, 28}));
  for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(digits.train.labels[i], i % 10);
  EXPECT_EQ(digits.train.images, noise({30, 28, 28}));
  EXPECT_EQ(digits.origin, "MNIST from " + data_.string());
  EXPECT_FALSE(digits.procedural);
}

TEST_F(Digits, ComeFromTheDirectoryInTheEnvironment) {
  const Environment data("ANESI_DATA", data_.c_str());
  EXPECT_EQ(load_digits().origin, "MNIST from " + data_.string());
  fs::remove(data_ / "t10k-labels-idx1-ubyte");
  EXPECT_THROW(load_digits(), Error);
}

TEST_F(Digits, NameTheMissingFile) {
  fs::remove(data_ / "t10k-images-idx3-ubyte");
  EXPECT_TRUE(toys::names(error(), {"t10k-images-idx3-ubyte"}));
  fs::remove_all(data_);
  EXPECT_EQ(error(), " no such directory; it should hold the four files of MNIST");
}

TEST_F(Digits, SayWhatIsWrongWithAFile) {
  const auto images = noise({30, 28, 28});
  write("train", images, labels_up_to(29));
  EXPECT_TRUE(toys::names(error(), {"train-labels-idx1-ubyte", "29", "30"}));
  write("train", images, labels_up_to(31));
  EXPECT_TRUE(toys::names(error(), {"train-labels-idx1-ubyte", "31", "30"}));
  auto labels = labels_up_to(30);
  labels.values<std::uint8_t>()[7] = 12;
  write("train", images, labels);
  EXPECT_TRUE(toys::names(error(), {"train-labels-idx1-ubyte", "12", "7", "0", "9"}));
  write("train", images, images);
  EXPECT_TRUE(toys::names(error(), {"train-labels-idx1-ubyte"}));
  write("train", labels, labels);
  EXPECT_TRUE(toys::names(error(), {"train-images-idx3-ubyte"}));
  write("train", noise({30, 32, 30}), labels);
  EXPECT_TRUE(toys::names(error(), {"train-images-idx3-ubyte", "32x30", "28x28"}));
  write("train", noise({0, 28, 28}), labels_up_to(0));
  EXPECT_TRUE(toys::names(error(), {"train-images-idx3-ubyte"}));
  write_file_atomically(data_ / "train-images-idx3-ubyte", "");
  EXPECT_TRUE(toys::names(error(), {"train-images-idx3-ubyte"}));
}

TEST_F(Digits, AreDrawnWhereThereIsNothingElse) {
  const DigitSets digits = load_and_listen();
  EXPECT_TRUE(digits.procedural);
  EXPECT_EQ(digits.train.images.shape(), (std::vector<std::int64_t>{60'000, 28, 28}));
  EXPECT_EQ(digits.test.images.shape(), (std::vector<std::int64_t>{10'000, 28, 28}));
  EXPECT_EQ(digits.test.labels.size(), 10'000);
  EXPECT_TRUE(toys::names(digits.origin, {"procedural digits", "ANESI_OFFLINE"}));
  EXPECT_TRUE(toys::names(said_, {"procedural digits", "MNIST"}));
  EXPECT_FALSE(fs::exists(cache_));
}

TEST_F(Digits, AreDrawnOnRequest) {
  const Environment data("ANESI_DATA", data_.c_str());
  const Environment procedural("ANESI_DIGITS", "procedural");
  EXPECT_TRUE(load_and_listen().procedural);
  EXPECT_EQ(said_, "");
  const Environment unknown("ANESI_DIGITS", "roman");
  EXPECT_THROW(load_digits(), UsageError);
}

TEST_F(Digits, AreNotTakenFromADamagedCache) {
  fs::create_directories(cache_);
  fs::rename(data_, cache_ / "mnist");
  EXPECT_TRUE(load_and_listen().procedural);
  EXPECT_TRUE(toys::names(said_, {"train-images-idx3-ubyte", "SHA-256"}));
}

// One source delivers something else under the right names, another fails.
TEST_F(Digits, AreNotTakenFromASourceThatHasSomethingElse) {
  int asked = 0;
  const std::vector<MnistSource> sources{{"an impostor",
                                          [&](const fs::path& scratch) {
                                            ++asked;
                                            EXPECT_TRUE(fs::is_empty(scratch));
                                            return data_;
                                          }},
                                         {"nowhere", [&](const fs::path&) -> fs::path {
                                            ++asked;
                                            throw Error("there is no network");
                                          }}};
  EXPECT_TRUE(load_and_listen(sources).procedural);
  EXPECT_EQ(asked, 0) << "offline";
  const Environment online("ANESI_OFFLINE", nullptr);
  const DigitSets digits = load_and_listen(sources);
  EXPECT_TRUE(digits.procedural);
  EXPECT_TRUE(digits.origin.starts_with("procedural digits")) << digits.origin;
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(toys::names(said_, {"an impostor"}));
  EXPECT_TRUE(toys::names(said_, {"SHA-256"}));
  EXPECT_TRUE(toys::names(said_, {"nowhere: there is no network"}));
  EXPECT_FALSE(fs::exists(cache_ / "mnist"));
  EXPECT_FALSE(fs::exists(cache_ / "fetching"));
}

TEST_F(Digits, AreDrawnWhereTheCacheCannotBe) {
  write_file_atomically(directory_.path() / "file", "");
  const fs::path impossible = directory_.path() / "file" / "cache";
  const Environment cache("ANESI_CACHE", impossible.c_str());
  const Environment online("ANESI_OFFLINE", nullptr);
  const MnistSource never{"nowhere", [](const fs::path& scratch) {
                            ADD_FAILURE() << "there is no place to fetch to";
                            return scratch;
                          }};
  EXPECT_TRUE(load_and_listen({never}).procedural);
  EXPECT_TRUE(toys::names(said_, {"cache", std::strerror(ENOTDIR)}));
}

}  // namespace
}  // namespace anesi
