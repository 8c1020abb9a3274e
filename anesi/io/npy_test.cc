#include "anesi/io/npy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/io/files.h"
#include "anesi/io/input_file.h"
#include "anesi/io/npy_header.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

// The file of format version 1 with this description, padded as NumPy pads it, and these bytes after it.
std::string npy(std::string description, const std::string& bytes) {
  description += std::string(127 - 10 - description.size(), ' ') + '\n';
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + description + bytes;
}

std::string complaint_about(const std::string& contents) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "file";
  write_file_atomically(path, contents);
  try {
    read_npy(path);
  } catch (const Error& error) {
    return std::string(error.what()).substr(path.string().size() + 2);
  }
  return "no error";
}

Array read(const std::string& contents) {
  const TemporaryDirectory directory;
  write_file_atomically(directory.path() / "file", contents);
  return read_npy(directory.path() / "file");
}

TEST(Npy, ReadsBackWhatItWrote) {
  const TemporaryDirectory directory;
  std::vector<Array> arrays{Array(NumberType::kFloat64, {0, 7})};
  for (const auto& known : kNpyTypes) {
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{}, {3}, {4, 3, 2}}) {
      auto& array = arrays.emplace_back(known.type, shape);
      std::memset(array.data(), 1, static_cast<std::size_t>(array.bytes()));
    }
  }
  for (const auto& array : arrays) {
    write_npy(directory.path() / "array", array);
    EXPECT_EQ(read_npy(directory.path() / "array"), array) << array.to_string();
    EXPECT_EQ(read_file(directory.path() / "array", kLargestText).find('\n') % 64,
              63);  // the array begins at a multiple of 64
  }
}

TEST(Npy, ReadsTheBytesOfTheFormat) {
  const auto bytes = read(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }", "abcd"));
  EXPECT_EQ(bytes, Array::of<std::uint8_t>({2, 2}, std::vector<std::uint8_t>{97, 98, 99, 100}));
  const auto shorts =
      read(npy(R"({"shape": (1,), "descr": "<i2", "fortran_order": True})", std::string("\x01\x02", 2)));
  EXPECT_EQ(shorts, Array::of<std::int16_t>({1}, std::vector<std::int16_t>{513}));
  const std::string description = "{'descr': '|b1', 'fortran_order': False, 'shape': (), }\n";
  const auto version_two = read(std::string("\x93NUMPY\x02\x00", 8) + static_cast<char>(description.size()) +
                                std::string(3, '\0') + description + '\x01');
  const bool truth = true;
  EXPECT_EQ(version_two, Array::of<bool>({}, {&truth, 1}));
}

TEST(Npy, SaysWhatIsWrong) {
  const auto described = [](const std::string& type, const std::string& shape, const std::string& bytes = "abcd",
                            const std::string& fortran = "False") {
    return complaint_about(
        npy("{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }", bytes));
  };
  EXPECT_NE(complaint_about(""), "no error");
  EXPECT_TRUE(toys::names(complaint_about("<html>"), {"NPY"}));
  EXPECT_TRUE(toys::names(complaint_about("\x93NUM"), {"NPY"}));
  EXPECT_TRUE(toys::names(complaint_about("\x93NUMPY\x01"), {"7"}));
  EXPECT_TRUE(toys::names(complaint_about(npy("{", "").substr(0, 50)), {"50"}));
  EXPECT_TRUE(toys::names(complaint_about("\x93NUMPY\x09     "), {"9", "1", "3"}));
  EXPECT_TRUE(toys::names(complaint_about(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)), {"4,294,967,295"}));
  EXPECT_TRUE(toys::names(described(">f4", "(1,)"), {"'>f4'"}));
  EXPECT_TRUE(toys::names(described("|u1", "(2, 2)", "abcd", "True"), {"numpy.ascontiguousarray"}));
  EXPECT_TRUE(toys::names(described("|u1", "(3, 2)"), {"uint8 [3, 2]", "134", "132"}));
  EXPECT_TRUE(toys::names(described("<f2", "(1,)"), {"float16 [1]", "130", "132"}));
  EXPECT_TRUE(toys::names(described("|u1", "(0, 4294967296, 4294967296)"), {"[0, 4294967296, 4294967296]"}));
  EXPECT_NE(complaint_about(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }", "")), "no error");
}

TEST(Npy, ADamagedDescriptionIsAnError) {
  for (const std::string description :
       {"", "{", "{}", "[]", "{'descr': '|u1', 'fortran_order': False}", "{'descr': '|u1', 'shape': (4,)}",
        "{'fortran_order': False, 'shape': (4,)}", "{'descr': '|u1', 'fortran_order': 0, 'shape': (4,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (-4,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': 4}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (4,)} x", "{'descr': '|u1",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (4,)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), 'more': 1}"}) {
    EXPECT_NE(complaint_about(npy(description, "abcd")), "no error") << description;
  }
}

TEST(Npy, AFileThatIsNotThereIsAnError) {
  const TemporaryDirectory directory;
  EXPECT_THROW(read_npy(directory.path() / "none"), Error);
  EXPECT_THROW(read_npy(directory.path()), Error);
}

TEST(Npy, WritesOnlyWhatNumpyHas) {
  const TemporaryDirectory directory;
  EXPECT_THROW(write_npy(directory.path() / "array", Array(NumberType::kBFloat16, {2})), Error);
}

}  // namespace
}  // namespace anesi
