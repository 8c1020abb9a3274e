#include "anesi/builtin/maps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "anesi/core/error.h"
#include "anesi/io/files.h"
#include "anesi/io/npy.h"
#include "anesi/testing/message_of.h"

namespace anesi {
namespace {

class WarcraftMaps : public testing::Test {
 protected:
  WarcraftMaps() { write_maps(problem_, drawn_, directory_.path()); }

  std::string error() const {
    try {
      read_maps(problem_, directory_.path());
    } catch (const Error& error) {
      return std::filesystem::path(error.what()).filename().string();
    }
    return "no error";
  }

  // Changes one of the files.
  template <typename Number>
  void spoil(const std::string& name, const std::function<void(std::span<Number>)>& change) const {
    const auto path = directory_.path() / name;
    auto array = read_npy(path);
    change({static_cast<Number*>(array.data()), static_cast<std::size_t>(array.count())});
    write_npy(path, array);
  }
  // Puts other paths in place of one, by marks of its 36 cells.
  void spoil_path(std::size_t map, const std::function<void(std::span<std::uint8_t>)>& change) const {
    spoil<std::uint8_t>("train_shortest_paths.npy",
                        [&](std::span<std::uint8_t> marks) { change(marks.subspan(36 * map, 36)); });
  }

  PathPlanning problem_{6};
  SplitArrays drawn_ = draw_maps(problem_, {.train = 20, .validation = 5, .test = 5}, 1);
  TemporaryDirectory directory_;
};

TEST_F(WarcraftMaps, ReadBackWhatWasWritten) {
  const auto read = read_maps(problem_, directory_.path());
  for (const auto& [one, other] : {std::pair(drawn_.train, read.train), std::pair(*drawn_.validation, *read.validation),
                                   std::pair(drawn_.test, read.test)}) {
    EXPECT_EQ(one.inputs, other.inputs);
    EXPECT_EQ(one.index, other.index);
    EXPECT_EQ(one.worlds, other.worlds);
    EXPECT_EQ(one.outputs, other.outputs);
  }
  EXPECT_NE(drawn_.validation->worlds, drawn_.test.worlds);
}

TEST_F(WarcraftMaps, AreNotHeldOutUnlessAskedFor) {
  const auto drawn = draw_maps(problem_, {.train = 20, .validation = 0, .test = 5}, 1);
  EXPECT_FALSE(drawn.validation);
  EXPECT_EQ(drawn.test.inputs, drawn_.test.inputs);
}

TEST_F(WarcraftMaps, SayWhatIsWrong) {
  spoil<std::uint16_t>("val_vertex_weights.npy", [](auto costs) { costs[2 * 36 + 1 * 6 + 3] = 0x4400; });  // 4
  EXPECT_TRUE(toys::names(error(), {"val_vertex_weights.npy", "map 2", "row 1", "column 3", "4.00"}));
  write_npy(directory_.path() / "val_vertex_weights.npy", Array(NumberType::kFloat32, {5, 6, 6}));
  EXPECT_TRUE(toys::names(error(), {"val_vertex_weights.npy", "float32 [5, 6, 6]", "float16 [5, 6, 6]"}));
  spoil_path(7, [](auto marks) { marks[35] = 0; });
  EXPECT_TRUE(toys::names(error(), {"train_shortest_paths.npy", "map 7"}));
  spoil_path(7, [](auto marks) {
    std::ranges::fill(marks, 0);
    marks[0] = marks[35] = 1;
  });
  EXPECT_TRUE(toys::names(error(), {"train_shortest_paths.npy", "map 7", "row 0", "column 0"}));
  spoil_path(7, [](auto marks) { std::ranges::fill(marks, 1); });
  EXPECT_TRUE(toys::names(error(), {"train_shortest_paths.npy", "map 7", "row 0", "column 0"}));
  write_npy(directory_.path() / "train_maps.npy", Array(NumberType::kUInt8, {20, 40, 48, 3}));
  EXPECT_TRUE(toys::names(error(), {"train_maps.npy", "uint8 [20, 40, 48, 3]", "uint8 [-1, 48, 48, 3]"}));
  std::filesystem::remove(directory_.path() / "train_maps.npy");
  EXPECT_TRUE(toys::names(error(), {"train_maps.npy"}));
}

TEST_F(WarcraftMaps, APathMustBeTheCheapest) {
  // Along the edges: connected, but dearer than the way that was found, or as cheap.
  spoil<std::uint8_t>("test_shortest_paths.npy", [](auto marks) {
    for (std::size_t place = 0; place < marks.size(); ++place) {
      const auto row = place / 6 % 6, column = place % 6;
      marks[place] = (row == 0 && column < 5) || (column == 5 && row > 0) ? 1 : 0;
    }
  });
  EXPECT_TRUE(toys::names(error(), {"test_shortest_paths.npy"}));
}

}  // namespace
}  // namespace anesi
