#include "anesi/tasks/warcraft/maps.h"

#include <gtest/gtest.h>

#include "anesi/core/error.h"
#include "anesi/io/files.h"
#include "anesi/io/npy.h"
#include "anesi/tensors/arrays.h"
#include "anesi/tensors/image_examples.h"
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

  static std::shared_ptr<const ImageExamples> images(const std::shared_ptr<const Examples>& examples) {
    return std::dynamic_pointer_cast<const ImageExamples>(examples);
  }

  // Changes one of the files.
  void spoil(const std::string& name, const std::function<torch::Tensor(torch::Tensor)>& change) const {
    const auto path = directory_.path() / name;
    write_npy(path, array_of(change(tensor_of(read_npy(path)))));
  }

  PathPlanning problem_{6};
  Splits drawn_ = draw_maps(problem_, {.train = 20, .validation = 5, .test = 5}, 1);
  TemporaryDirectory directory_;
};

TEST_F(WarcraftMaps, ReadBackWhatWasWritten) {
  const auto read = read_maps(problem_, directory_.path());
  for (const auto& [one, other] : {std::pair(images(drawn_.train), images(read.train)),
                                   std::pair(images(drawn_.validation), images(read.validation)),
                                   std::pair(images(drawn_.test), images(read.test))}) {
    EXPECT_TRUE(torch::equal(one->pool(), other->pool()));
    EXPECT_TRUE(torch::equal(one->index(), other->index()));
    EXPECT_TRUE(torch::equal(one->worlds(), other->worlds()));
    EXPECT_TRUE(torch::equal(one->labels().outputs, other->labels().outputs));
  }
  EXPECT_FALSE(torch::equal(drawn_.validation->worlds(), drawn_.test->worlds()));
}

TEST_F(WarcraftMaps, SayWhatIsWrong) {
  spoil("val_vertex_weights.npy", [](torch::Tensor costs) {
    costs[2][1][3] = 4;
    return costs;
  });
  EXPECT_TRUE(toys::names(error(), {"val_vertex_weights.npy", "map 2", "row 1", "column 3", "4.00"}));
  spoil("val_vertex_weights.npy", [](const torch::Tensor& costs) { return costs.to(torch::kFloat32); });
  EXPECT_TRUE(toys::names(error(), {"val_vertex_weights.npy", "Float [5, 6, 6]", "Half [5, 6, 6]"}));
  spoil("train_shortest_paths.npy", [](torch::Tensor paths) {
    paths[7][5][5] = 0;
    return paths;
  });
  EXPECT_TRUE(toys::names(error(), {"train_shortest_paths.npy", "map 7"}));
  spoil("train_shortest_paths.npy", [](torch::Tensor paths) {
    paths[7].zero_();
    paths[7][0][0] = paths[7][5][5] = 1;
    return paths;
  });
  EXPECT_TRUE(toys::names(error(), {"train_shortest_paths.npy", "map 7", "row 0", "column 0"}));
  spoil("train_shortest_paths.npy", [](torch::Tensor paths) {
    paths[7].fill_(1);
    return paths;
  });
  EXPECT_TRUE(toys::names(error(), {"train_shortest_paths.npy", "map 7", "row 0", "column 0"}));
  spoil("train_maps.npy", [](const torch::Tensor& maps) { return maps.slice(1, 0, 40); });
  EXPECT_TRUE(toys::names(error(), {"train_maps.npy", "Byte [20, 40, 48, 3]", "Byte [-1, 48, 48, 3]"}));
  std::filesystem::remove(directory_.path() / "train_maps.npy");
  EXPECT_TRUE(toys::names(error(), {"train_maps.npy"}));
}

TEST_F(WarcraftMaps, APathMustBeTheCheapest) {
  // Along the edges: connected, but dearer than the way that was found, or as cheap.
  spoil("test_shortest_paths.npy", [](torch::Tensor paths) {
    for (std::int64_t map = 0; map < paths.size(0); ++map) {
      paths[map].zero_();
      paths[map].select(0, 0).slice(0, 0, 5) = 1;
      paths[map].select(1, 5).slice(0, 1) = 1;
    }
    return paths;
  });
  EXPECT_TRUE(toys::names(error(), {"test_shortest_paths.npy"}));
}

}  // namespace
}  // namespace anesi
