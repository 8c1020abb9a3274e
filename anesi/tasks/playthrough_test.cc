// Every task has a recorded playthrough beside it, playthrough.txt: the options it was recorded with, then worlds and
// what c makes of them. This replays them, so that a change of a problem's meaning does not go unnoticed. With
// ANESI_RECORD=TASK in the environment that task's is written anew.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "anesi/run/configuration.h"

namespace anesi {
namespace {

std::filesystem::path recording(std::string task) {
  std::ranges::replace(task, '-', '_');
  return std::filesystem::path(__FILE__).parent_path() / task / "playthrough.txt";
}

std::string play(const std::string& task) {
  Configuration configuration(task);
  std::string text;
  for (const auto& row : configuration.table().rows()) {
    if (row.name.starts_with("task.")) text += fmt::format("{} = {}\n", row.name, configuration.table().get(row.name));
  }
  const auto made = configuration.make_task({});
  const auto& worlds = made.problem->worlds();
  text += fmt::format("worlds = {}\noutputs = {}\n", worlds.domains(), made.problem->outputs().domains());
  std::mt19937_64 random(7);
  for (int turn = 0; turn < 20; ++turn) {
    std::vector<std::int64_t> world;
    for (const auto domain : worlds.domains()) {
      world.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(domain)));
    }
    const auto output = apply_to(*made.problem, world);
    text += fmt::format("{} -> {}    {} -> {}\n", fmt::join(world, " "), fmt::join(output, " "),
                        made.presentation->world(world), made.presentation->output(output));
  }
  return text;
}

TEST(Playthrough, EveryTaskPlaysAsRecorded) {
  for (const auto& [name, entry] : tasks().all()) {
    const char* const record = std::getenv("ANESI_RECORD");  // the task to record anew
    if (record != nullptr && name == record) std::ofstream(recording(name)) << play(name);
    std::ifstream file(recording(name));
    ASSERT_TRUE(file) << recording(name) << " is missing; ANESI_RECORD=" << name << " writes it";
    std::stringstream recorded;
    recorded << file.rdbuf();
    EXPECT_EQ(play(name), recorded.str());
  }
}

}  // namespace
}  // namespace anesi
