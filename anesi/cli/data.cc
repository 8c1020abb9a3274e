// anesi data: writes a task's data as files.
#include <fmt/format.h>

#include <iostream>

#include "anesi/cli/command.h"
#include "anesi/cli/numbers.h"
#include "anesi/run/configuration.h"

namespace anesi::cli {
namespace {

struct DataFlags {
  CommonFlags common;
  std::string task, out;
  std::vector<std::string> settings;
  std::int64_t seed = -1;
};

void data(const DataFlags& flags) {
  Configuration configuration(flags.task);
  for (const auto& setting : flags.settings) configuration.table().set(setting);
  if (flags.seed >= 0) configuration.table().set("seed", std::to_string(flags.seed));
  const auto task = configuration.make_task(flags.common.context());
  if (!task.export_data) throw UsageError("the task " + flags.task + " has no data of its own to write");
  // What is there already may belong to other data, such as the labels of other images.
  if (std::filesystem::exists(flags.out) &&
      (!std::filesystem::is_directory(flags.out) || !std::filesystem::is_empty(flags.out))) {
    throw Error(fmt::format("{}: not an empty directory; choose another --out", flags.out));
  }
  task.export_data(flags.out);
  nlohmann::ordered_json json{{"task", flags.task}, {"out", flags.out}};
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(flags.out)) names.push_back(file.path().filename());
  std::ranges::sort(names);
  json["files"] = names;
  if (flags.common.json) {
    print_json(json);
  } else {
    for (const auto& name : names) std::cout << (std::filesystem::path(flags.out) / name).string() << '\n';
  }
}

}  // namespace

void add_data(CLI::App& app, int&) {
  auto* command = app.add_subcommand("data", "write a task's data as files that other programs read");
  auto flags = std::make_shared<DataFlags>();
  command->add_option("TASK", flags->task, "whose data")->required();
  command->add_option("--out", flags->out, "the directory to write to, new or empty")->required();
  command->add_option("--set", flags->settings, "an option's value, name=value; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--seed", flags->seed, "of the shuffle (default 0)")->check(seed_number());
  flags->common.add_to(*command);
  command->footer("Example:\n  anesi data mnist-add --set task.digits=2 --out digits/");
  command->callback([flags] { data(*flags); });
}

}  // namespace anesi::cli
