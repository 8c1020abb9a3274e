#include "anesi/check/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace anesi {

CheckReport::CheckReport(Tell tell) : tell_(std::move(tell)) {
  for (const auto* key : {"pruner_exact", "tv_prior", "tv_perceived", "kl_prior", "kl_perceived", "mpe_agreement",
                          "satisfied", "exploitable"}) {
    figures_[key] = nullptr;
  }
}

void CheckReport::line(bool good, const std::string& name, const std::string& words) {
  lines_.push_back({name, good, words});
  if (tell_) tell_(lines_.back());
}

bool CheckReport::good() const { return std::ranges::all_of(lines_, &Finding::good); }

nlohmann::ordered_json CheckReport::to_json() const {
  auto json = figures_;
  json["notes"] = nlohmann::ordered_json::array();
  for (const auto& line : lines_) json["notes"].push_back(fmt::format("{}: {}", line.name, line.words));
  return json;
}

}  // namespace anesi
