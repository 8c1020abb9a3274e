#include "anesi/run/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace anesi {

double Summary::mean() const {
  double sum = 0;
  for (const auto value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double Summary::deviation() const {
  if (values.size() < 2) return 0;
  double sum = 0;
  for (const auto value : values) sum += (value - mean()) * (value - mean());
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

bool is_share(const std::string& name) {
  constexpr std::array<std::string_view, 6> kOthers{"seconds", "ms_per", "nll", "ece", "examples", "restarts"};
  return std::ranges::none_of(kOthers, [&](auto other) { return name.find(other) != std::string::npos; });
}

void Summaries::add(const nlohmann::ordered_json& figures, const std::string& prefix) {
  for (const auto& [key, value] : figures.items()) {
    const auto name = prefix + key;
    if (value.is_object() && name != "machine") add(value, name + ".");
    if (!value.is_number()) continue;
    auto place = std::ranges::find(all_, name, [](const auto& entry) { return entry.first; });
    if (place == all_.end()) place = all_.insert(place, {name, {}});
    place->second.values.push_back(value.get<double>());
  }
}

nlohmann::ordered_json Summaries::to_json() const {
  nlohmann::ordered_json json;
  for (const auto& [name, summary] : all_) {
    json[name] = {{"mean", summary.mean()}, {"std", summary.deviation()}, {"runs", summary.values}};
  }
  return json;
}

}  // namespace anesi
