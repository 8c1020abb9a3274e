#include "core_options.h"

#include <algorithm>
#include <array>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/models/architecture.h"

namespace anesi::python {
namespace {

constexpr std::ptrdiff_t kOwnSettings = 1;  // of architectures, which are there before any was set

// The group of "scan.width=3" is "scan".
std::string group_of(const std::string& assignment) { return assignment.substr(0, assignment.find('.')); }

bool names_architecture_or_prior(const std::string& name) {
  return architectures().contains(name) || priors().contains(name);
}

// Throws UsageError where what is of this name has no such option, or the option not such a value.
template <typename Entries>
void require_option(const Entries& entries, const std::string& assignment) {
  const auto group = group_of(assignment);
  if (!entries.contains(group)) return;
  const auto choice = entries.find(group).choose();
  OptionTable table;
  table.add_group(group, *choice);
  table.set(std::string_view(assignment));
}

// Options of the command line that have no meaning here, and what there is instead.
constexpr std::array<std::pair<const char*, const char*>, 5> kInstead{{
    {"q.from", "load a saved model with anesi.load() instead"},
    {"q.given", "what the function is told besides the world is passed as `given`"},
    {"q.trace", "a function tells no intermediate results; leave it at 0"},
    {"q.trace_weight", "a function tells no intermediate results; leave it as it is"},
    {"eval.decide", "predict() gives q's most likely output, most_probable() a world that gives a label"},
}};

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
    require_option(architectures(), assignment);
    require_option(priors(), assignment);
    of_architectures.push_back(assignment);
  } else {
    table_.set(std::string_view(assignment));
  }
}

void CoreOptions::require_used(const std::string& architecture) const {
  const auto rows = table_.rows();
  for (const auto& [name, instead] : kInstead) {
    const auto row = std::ranges::find(rows, name, &OptionTable::Row::name);
    if (table_.get(name) != row->fallback) throw UsageError(std::string(name) + ": " + instead);
  }
  for (auto setting = of_architectures.begin() + kOwnSettings; setting != of_architectures.end(); ++setting) {
    const auto group = group_of(*setting);
    const bool is_prior = priors().contains(group);
    if (is_prior ? group == prior.kind : architecture.empty() || group == architecture) continue;
    throw UsageError(*setting + (is_prior ? ": it is of another prior than prior.kind=" + prior.kind
                                          : ": it is of another architecture than " + architecture));
  }
}

std::vector<std::string> CoreOptions::names() const {
  std::vector<std::string> names;
  for (const auto& row : table_.rows()) names.push_back(row.name);
  return names;
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
