#include "anesi/run/option_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace anesi {
namespace {

constexpr std::array kMayChange{"train.epochs", "train.evaluate_every", "q.pretrain", "refine.epochs"};

bool may_change(const std::string& option, const Configuration& now) {
  return std::ranges::find(kMayChange, option) != kMayChange.end() || option.starts_with("eval.") ||
         !now.applies(option);
}

}  // namespace

std::string OptionChange::to_string() const {
  const auto shown = [](const std::string& value) { return value.empty() ? "empty" : value; };
  return fmt::format("{} was {}, is {}", name, shown(before), shown(now));
}

std::vector<OptionChange> option_changes(const std::map<std::string, std::string>& before, const Configuration& now) {
  std::vector<OptionChange> changes;
  for (const auto& [name, value] : now.values()) {
    const auto earlier = before.find(name);
    if (earlier == before.end() || earlier->second == value) continue;
    changes.push_back({name, earlier->second, value, may_change(name, now)});
  }
  return changes;
}

std::string to_string(const std::vector<OptionChange>& changes) {
  constexpr std::size_t kMostShown = 5;
  std::string text;
  for (std::size_t place = 0; place < std::min(kMostShown, changes.size()); ++place) {
    text += (place == 0 ? "" : "; ") + changes[place].to_string();
  }
  if (changes.size() > kMostShown) text += fmt::format("; and {} more", changes.size() - kMostShown);
  return text;
}

}  // namespace anesi
