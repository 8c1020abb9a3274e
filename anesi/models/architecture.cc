#include "anesi/models/architecture.h"

#include <fmt/format.h>

namespace anesi {

Registry<ArchitectureEntry>& architectures() {
  static Registry<ArchitectureEntry> all("architecture");
  return all;
}

InferenceModel make_model(const Problem& problem, const std::string& architecture, bool explain,
                          const std::vector<std::string>& settings) {
  const auto chosen = architectures().find(architecture).choose();
  OptionTable table;
  table.add_group(architecture, *chosen);
  for (const auto& setting : settings) {
    const bool full = setting.starts_with(architecture + ".");
    table.set(full ? setting : fmt::format("{}.{}", architecture, setting));
  }
  auto model = chosen->make(problem, explain);
  model.architecture = architecture;
  for (const auto& row : table.rows()) model.options[row.name] = table.get(row.name);
  return model;
}

}  // namespace anesi
