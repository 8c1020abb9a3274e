#include "core_options.h"

#include <algorithm>

#include "anesi/models/architecture.h"

namespace anesi::python {
namespace {

// The group of "scan.width=3" is "scan".
std::string group_of(const std::string& assignment) { return assignment.substr(0, assignment.find('.')); }

bool names_architecture_or_prior(const std::string& name) {
  const auto among = [&](const auto& names) { return std::ranges::find(names, name) != names.end(); };
  return among(architectures().names()) || among(priors().names());
}

}  // namespace

CoreOptions::CoreOptions() {
  q.schedule.lr = 0.002;
  q.pretrain = 500;
  q.amortized.samples = 64;
  of_architectures = {"mlp.width=200"};  // the paper's 800 take minutes before anything can begin
  table_.add_group("q", q);
  table_.add_group("prior", prior);
  table_.add_group("discover", discover);
  table_.add_group("exact", exact);
  table_.add_group("eval", eval);
}

void CoreOptions::set(const std::string& assignment) {
  if (names_architecture_or_prior(group_of(assignment))) {
    of_architectures.push_back(assignment);
  } else {
    table_.set(std::string_view(assignment));
  }
}

std::vector<std::string> CoreOptions::settings_for(const std::string& group) const {
  std::vector<std::string> own;
  for (const auto& setting : of_architectures) {
    if (group_of(setting) == group) own.push_back(setting);
  }
  return own;
}

std::map<std::string, std::string> CoreOptions::values() const {
  std::map<std::string, std::string> values;
  for (const auto& row : table_.rows()) values[row.name] = table_.get(row.name);
  for (const auto& setting : of_architectures) {
    const auto equals = setting.find('=');
    values[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  return values;
}

std::vector<std::string> CoreOptions::settings_of(const std::map<std::string, std::string>& values) {
  const CoreOptions known;
  std::vector<std::string> settings;
  for (const auto& [name, value] : values) {
    if (name != "q.from" && (known.table_.contains(name) || names_architecture_or_prior(group_of(name)))) {
      settings.push_back(name + "=" + value);
    }
  }
  return settings;
}

}  // namespace anesi::python
