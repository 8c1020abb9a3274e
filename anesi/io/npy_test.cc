#include "anesi/io/npy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "anesi/core/error.h"
#include "anesi/io/files.h"
#include "anesi/io/input_file.h"
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

torch::Tensor read(const std::string& contents) {
  const TemporaryDirectory directory;
  write_file_atomically(directory.path() / "file", contents);
  return read_npy(directory.path() / "file");
}

TEST(Npy, ReadsBackWhatItWrote) {
  const TemporaryDirectory directory;
  const auto maps = torch::randint(0, 256, {5, 8, 8, 3}, torch::kUInt8);
  for (const auto& array :
       {maps, maps.permute({3, 0, 1, 2}), torch::rand({4, 3}).to(torch::kFloat16), torch::tensor(2.5),
        torch::tensor({1, -2, 3}), torch::tensor({true, false}), torch::empty({0, 7}, torch::kFloat64)}) {
    write_npy(directory.path() / "array", array);
    const auto back = read_npy(directory.path() / "array");
    EXPECT_EQ(back.scalar_type(), array.scalar_type());
    EXPECT_TRUE(torch::equal(back, array));
    EXPECT_EQ(read_file(directory.path() / "array", kLargestText).find('\n') % 64,
              63);  // the array begins at a multiple of 64
  }
}

TEST(Npy, ReadsTheBytesOfTheFormat) {
  const auto bytes = read(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2), }", "abcd"));
  EXPECT_TRUE(torch::equal(bytes, torch::tensor({97, 98, 99, 100}, torch::kUInt8).view({2, 2})));
  const auto shorts =
      read(npy(R"({"shape": (1,), "descr": "<i2", "fortran_order": True})", std::string("\x01\x02", 2)));
  EXPECT_TRUE(torch::equal(shorts, torch::tensor({513}, torch::kInt16)));
  const std::string description = "{'descr': '|b1', 'fortran_order': False, 'shape': (), }\n";
  const auto version_two = read(std::string("\x93NUMPY\x02\x00", 8) + static_cast<char>(description.size()) +
                                std::string(3, '\0') + description + '\x01');
  EXPECT_TRUE(torch::equal(version_two, torch::tensor(true)));
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
  EXPECT_THROW(write_npy(directory.path() / "array", torch::ones({2}, torch::kBFloat16)), Error);
}

}  // namespace
}  // namespace anesi
