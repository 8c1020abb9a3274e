#include "anesi/builtin/builtin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "anesi/data/procedural_digits.h"
#include "anesi/io/files.h"
#include "anesi/io/idx.h"

namespace anesi {
namespace {

// Options that keep the data small.
const std::map<std::string, std::vector<std::string>> kSmall{
    {"warcraft", {"task.size=5", "task.maps=30", "task.tests=7"}}, {"visual-sudoku", {"task.puzzles=3"}}};

Builtin make(const std::string& name, const TaskContext& context, const std::vector<std::string>& more = {}) {
  const auto chosen = builtins().find(name).choose();
  OptionTable table;
  table.add_group("task", *chosen);
  if (kSmall.contains(name)) {
    for (const auto& setting : kSmall.at(name)) table.set(setting);
  }
  for (const auto& setting : more) table.set(setting);
  return chosen->make(context);
}

// A directory of few digits.
class Builtins : public testing::Test {
 protected:
  Builtins() {
    write(render_digits(1500, 1), "train");
    write(render_digits(300, 2), "t10k");
  }

  TaskContext context(bool validation) const {
    return {.data = directory_.path(), .seed = 3, .validation = validation};
  }

 private:
  void write(const DigitImages& digits, const std::string& prefix) const {
    Array labels(NumberType::kUInt8, {std::ssize(digits.labels)});
    std::ranges::copy(digits.labels, labels.values<std::uint8_t>().begin());
    write_idx(directory_.path() / (prefix + "-images-idx3-ubyte"), digits.images);
    write_idx(directory_.path() / (prefix + "-labels-idx1-ubyte"), labels);
  }

  TemporaryDirectory directory_;
};

void expect_true_labels(const ExampleArrays& data, const Problem& problem) {
  const auto worlds = points_of(*data.worlds), outputs = points_of(*data.outputs);
  const auto said = apply(problem, worlds);
  for (std::int64_t row = 0; row < worlds.size(); ++row) {
    const bool holds = !data.holds || data.holds->values<bool>()[static_cast<std::size_t>(row)];
    EXPECT_EQ(std::ranges::equal(said[row], outputs[row]), holds) << "example " << row;
  }
}

TEST_F(Builtins, LabelTheirDataWithTheirFunctions) {
  for (const auto& [name, entry] : builtins().all()) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(entry.summary.empty());
    const auto task = make(name, context(true));
    const auto splits = task.load();
    ASSERT_TRUE(splits.validation);
    for (const auto* const split : {&splits.train, &*splits.validation, &splits.test}) {
      expect_true_labels(*split, *task.problem);
    }
    EXPECT_EQ(splits.train.inputs, task.load().train.inputs);
    EXPECT_EQ(splits.train.outputs, task.load().train.outputs);
  }
}

TEST_F(Builtins, MayLookAtWholes) {
  const auto puzzles = make("visual-sudoku", context(false), {"task.reader=puzzle"});
  const auto maps = make("warcraft", context(false), {"task.reader=map"});
  expect_true_labels(puzzles.load().train, *puzzles.problem);
  const auto marked = maps.load();
  expect_true_labels(marked.train, *maps.problem);
  EXPECT_EQ(points_of(*marked.train.worlds)[0].front(), 1);
  EXPECT_EQ(points_of(*marked.train.worlds)[0].back(), 1);
}

}  // namespace
}  // namespace anesi
