#include "anesi/models/architecture.h"

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
    table.set(setting.starts_with(architecture + ".") ? setting : architecture + "." + setting);
  }
  auto model = chosen->make(problem, explain);
  model.architecture = architecture;
  for (const auto& row : table.rows()) model.options[row.name] = table.get(row.name);
  return model;
}

}  // namespace anesi
