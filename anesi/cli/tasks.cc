// anesi tasks: what there is to train.
#include <fmt/format.h>

#include <iostream>

#include "anesi/cli/command.h"
#include "anesi/run/configuration.h"

namespace anesi::cli {

void add_tasks(CLI::App& app, int&) {
  auto* command = app.add_subcommand("tasks", "what is there to train, with sizes and presets");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print one JSON object on stdout");
  command->footer("Example:\n  anesi tasks");
  command->callback([json] {
    auto all = nlohmann::ordered_json::array();
    std::string text;
    for (const auto& [name, entry] : tasks().all()) {
      const Configuration configuration(name);
      const auto task = configuration.make_task({});
      const auto &worlds = task.problem->worlds(), &outputs = task.problem->outputs();
      nlohmann::ordered_json row{{"name", name},
                                 {"summary", entry.summary},
                                 {"world_variables", worlds.variables()},
                                 {"output_variables", outputs.variables()}};
      text += fmt::format("{}\n  {}\n  {} world variables, {} output variables by default\n", name, entry.summary,
                          worlds.variables(), outputs.variables());
      for (const auto& preset : entry.presets) {
        row["presets"].push_back({{"name", preset.name}, {"summary", preset.summary}});
        text += fmt::format("  --preset {:<10} {}\n", preset.name, preset.summary);
      }
      for (const auto& option : configuration.table().rows()) {
        if (!option.name.starts_with("task.") || option.name == "task.name") continue;
        row["options"].push_back(
            {{"name", option.name}, {"default", option.fallback}, {"range", option.range}, {"help", option.help}});
        text += fmt::format("  --set {}={:<6} {} ({})\n", option.name, option.fallback, option.help, option.range);
      }
      all.push_back(row);
    }
    if (*json) {
      print_json(nlohmann::ordered_json{{"tasks", all}});
    } else {
      std::cout << text;
    }
  });
}

}  // namespace anesi::cli
