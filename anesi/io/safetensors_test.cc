#include "anesi/io/safetensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/io/files.h"
#include "anesi/io/input_file.h"
#include "anesi/testing/message_of.h"
#include "anesi/testing/random_seed.h"

namespace anesi {
namespace {

using Metadata = std::map<std::string, std::string>;

NamedArrays some_of_every_type() {
  NamedArrays arrays;
  for (std::size_t type = 0; type < kNumberTypes.size(); ++type) {
    Array array(static_cast<NumberType>(type), {3, 5});
    std::memset(array.data(), 1, static_cast<std::size_t>(array.bytes()));
    arrays["layer." + std::string(kNumberTypes[type].name)] = array;
  }
  arrays["scalar"] = Array::of<double>({}, std::vector{2.5});
  arrays["empty"] = Array(NumberType::kFloat32, {0, 4});
  arrays["\"quoted\"\nζ"] = Array::of<float>({1}, std::vector{1.0F});
  return arrays;
}

class Safetensors : public ::testing::Test {
 protected:
  // What reading a file with this header and data says, without the name of the file.
  std::string error_of(const std::string& header, const std::string& data) {
    std::string length;
    for (unsigned shift = 0; shift < 64; shift += 8) length += static_cast<char>((header.size() >> shift) & 255U);
    return error_of_file(length + header + data);
  }
  std::string error_of_file(const std::string& contents) {
    write_file_atomically(path_, contents);
    try {
      read_safetensors(path_);
    } catch (const Error& error) {
      const std::string message = error.what();
      const std::string place = path_.string() + ": ";
      EXPECT_EQ(message.substr(0, place.size()), place);
      return message.substr(place.size());
    }
    return "no error";
  }

  TemporaryDirectory directory_;
  std::filesystem::path path_ = directory_.path() / "a.safetensors";
};

TEST_F(Safetensors, ReadsBackWhatItWrote) {
  const auto written = some_of_every_type();
  const Metadata metadata = {{"format", "pt"}, {"note", "line\n\"two\""}};
  write_safetensors(path_, written, metadata);
  const auto read = read_safetensors(path_);
  EXPECT_EQ(read.metadata, metadata);
  EXPECT_EQ(read.arrays, written);
}

TEST_F(Safetensors, TellsShapesWithoutReadingNumbers) {
  const auto written = some_of_every_type();
  write_safetensors(path_, written);
  const auto shapes = read_safetensors_shapes(path_);
  ASSERT_EQ(shapes.size(), written.size());
  for (const auto& [name, array] : written) EXPECT_EQ(shapes.at(name), array.shape()) << name;
  std::filesystem::resize_file(path_, 4);
  EXPECT_THROW(read_safetensors_shapes(path_), Error);
  std::filesystem::remove(path_);
  EXPECT_THROW(read_safetensors_shapes(path_), Error);
}

TEST_F(Safetensors, HoldsNothingAtAll) {
  write_safetensors(path_, {});
  const auto read = read_safetensors(path_);
  EXPECT_TRUE(read.arrays.empty());
  EXPECT_TRUE(read.metadata.empty());
}

TEST_F(Safetensors, WritesTheBytesOfTheFormat) {
  write_safetensors(path_, {{"a", Array::of<std::uint8_t>({2}, std::vector<std::uint8_t>{1, 2})},
                            {"b", Array::of<std::int16_t>({1}, std::vector<std::int16_t>{3})}});
  const std::string header =
      R"({"a":{"data_offsets":[2,4],"dtype":"U8","shape":[2]},"b":{"data_offsets":[0,2],"dtype":"I16","shape":[1]}})";
  const std::string padding(8 - header.size() % 8, ' ');
  const std::string length = {static_cast<char>(header.size() + padding.size()), 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(read_file(path_, kLargestText), length + header + padding + std::string("\x03\0\x01\x02", 4));
}

TEST_F(Safetensors, WritesOnlyWhatTheFormatHolds) {
  const auto one = Array::of<float>({1}, std::vector{1.0F});
  EXPECT_THROW(write_safetensors(path_, {{"__metadata__", one}}), Error);
  EXPECT_THROW(write_safetensors(path_, {{"not UTF-8 \xff", one}}), Error);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(Safetensors, SaysWhenTheFileIsNotOne) {
  EXPECT_TRUE(toys::names(error_of_file("abc"), {"3"}));
  EXPECT_TRUE(toys::names(error_of_file(std::string("\x10\0\0\0\0\0\0\0{}", 10)), {"16", "10"}));
  EXPECT_TRUE(toys::names(error_of_file(std::string(16, '\xff')), {"18,446,744,073,709,551,615"}));
  EXPECT_TRUE(toys::names(error_of(R"({"a":)", ""), {"6"}));
  EXPECT_TRUE(toys::names(error_of("[1]", ""), {"JSON"}));
  EXPECT_EQ(error_of("{}  ", ""), "no error");
  EXPECT_TRUE(toys::names(error_of("{}", "xx"), {"2"}));
  EXPECT_TRUE(toys::names(error_of(R"({"__metadata__":3})", ""), {"metadata"}));
  EXPECT_TRUE(toys::names(error_of(R"({"__metadata__":{"k":3}})", ""), {"metadata", "\"k\""}));
  EXPECT_TRUE(toys::names(error_of(std::string(1'000'000, '['), ""), {"JSON"}));
}

TEST_F(Safetensors, SaysWhatIsWrongWithATensor) {
  const auto wrong = [&](const std::string& entry) { return error_of("{\"t\":" + entry + "}", "12345678"); };
  EXPECT_EQ(wrong(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})"), "no error");
  EXPECT_TRUE(toys::names(wrong("3"), {"\"t\""}));
  EXPECT_TRUE(toys::names(wrong("{}"), {"\"t\"", "dtype"}));
  EXPECT_TRUE(toys::names(wrong(R"({"dtype":"F32"})"), {"\"t\"", "shape"}));
  EXPECT_TRUE(toys::names(wrong(R"({"dtype":"F32","shape":[2]})"), {"\"t\"", "data_offsets"}));
  EXPECT_TRUE(toys::names(wrong(R"({"dtype":"F7","shape":[2],"data_offsets":[0,8]})"), {"\"t\"", "dtype", "F7"}));
  for (const char* size : {"-2", "2.0", "\"2\"", "null", "9223372036854775808", "99999999999999999999999"}) {
    EXPECT_TRUE(toys::names(wrong(std::string(R"({"dtype":"F32","shape":[)") + size + R"(],"data_offsets":[0,8]})"),
                            {"\"t\"", "shape"}));
  }
  for (const char* shape : {"4611686018427387904,2", "4611686018427387904,4611686018427387904,0"}) {
    EXPECT_TRUE(toys::names(wrong(std::string(R"({"dtype":"F32","shape":[)") + shape + R"(],"data_offsets":[0,8]})"),
                            {"\"t\"", "shape"}));
  }
  EXPECT_TRUE(toys::names(wrong(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})"),
                          {"\"t\"", "shape", "data_offsets", "12", "8"}));
  EXPECT_TRUE(toys::names(wrong(R"({"dtype":"F32","shape":[2],"data_offsets":[8,0]})"), {"\"t\"", "data_offsets"}));
  EXPECT_TRUE(toys::names(wrong(R"({"dtype":"F32","shape":[2],"data_offsets":[8]})"), {"\"t\"", "data_offsets"}));
  EXPECT_TRUE(toys::names(wrong(R"({"dtype":"F32","shape":[2],"data_offsets":[4,12]})"), {"\"t\"", "12", "8"}));
  EXPECT_TRUE(toys::names(wrong(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})"), {"\"t\"", "4", "0"}));
  EXPECT_TRUE(toys::names(wrong(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})"), {"4"}));
  EXPECT_TRUE(toys::names(wrong(R"({"dtype":"BOOL","shape":[8],"data_offsets":[0,8]})"), {"\"t\"", "BOOL", "0", "1"}));
}

TEST_F(Safetensors, SaysWhenTensorsOverlap) {
  EXPECT_TRUE(toys::names(error_of(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                                   R"("b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
                                   "1234"),
                          {"\"b\"", "2", "3"}));
}

// Damage of any kind either goes unseen (a changed number) or is an Error; a sanitizer build also sees stray reads.
TEST_F(Safetensors, SurvivesRandomDamage) {
  const toys::RandomSeed seed;
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };

  write_safetensors(path_, some_of_every_type(), {{"key", "value"}});
  const std::string intact = read_file(path_, kLargestText);
  const std::size_t header_end =
      8 + static_cast<unsigned char>(intact[0]) + 256U * static_cast<unsigned char>(intact[1]);
  const std::filesystem::path damaged_path = directory_.path() / "damaged.safetensors";
  int refused = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::string damaged = intact;
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
      const std::size_t at = below(below(4) == 0 ? damaged.size() : std::min(header_end, damaged.size()));
      switch (below(5)) {
        case 0:
          damaged[at] = static_cast<char>(damaged[at] ^ (1 << below(8)));
          break;
        case 1:
          damaged[at] = static_cast<char>(below(256));
          break;
        case 2:
          damaged[at] = "0123456789-.,[]{}\""[below(18)];  // more often still JSON
          break;
        case 3:
          damaged.insert(at, 1 + below(4), '9');
          break;
        default:
          damaged.resize(std::max<std::size_t>(at, 1));
      }
    }
    std::ofstream(damaged_path, std::ios::binary) << damaged;
    try {
      read_safetensors_shapes(damaged_path);
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "trial " << trial;
    }
    try {
      read_safetensors(damaged_path);
    } catch (const Error& error) {
      ++refused;
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "seed " << seed << ", trial " << trial;
    }
  }
  EXPECT_GT(refused, 1000) << "seed " << seed;
}

}  // namespace
}  // namespace anesi
