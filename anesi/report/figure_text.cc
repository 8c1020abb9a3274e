#include "anesi/report/figure_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "anesi/core/printable.h"
#include "anesi/io/svg.h"
#include "anesi/io/thousands.h"
#include "anesi/run/summary.h"

namespace anesi {

std::string escaped(std::string_view text) { return escaped_for_svg(printable(text)); }

std::string escaped_lines(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto end = text.find('\n');
    result += escaped(text.substr(0, end)) + "\n";
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return result;
}

std::string in_unit(double value, Unit unit) {
  switch (unit) {
    case Unit::kShare:
      return fmt::format("{:.2f} %", 100 * value);
    case Unit::kNats:
      return fmt::format("{:.4f}", value);
    case Unit::kSeconds:
      return fmt::format("{:.1f} s", value);
    case Unit::kMilliseconds:
      return fmt::format("{:.2f} ms", value);
    case Unit::kCount:
      return value < 0 ? fmt::format("{:.0f}", value) : thousands(static_cast<std::uint64_t>(value));
    case Unit::kDistance:
      return fmt::format("{:.3g}", value);
    case Unit::kSmall:
      return fmt::format("{:.2e}", value);
  }
  return {};
}

Unit unit_of(const std::string& name) {
  if (is_share(name)) return Unit::kShare;
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  return ends("seconds")        ? Unit::kSeconds
         : ends("ms_per_query") ? Unit::kMilliseconds
         : ends("nll")          ? Unit::kNats
         : ends("ece")          ? Unit::kNats
                                : Unit::kCount;
}

std::string meaning_of(const std::string& name) {
  static const std::map<std::string, std::string> kMeanings{
      {"examples", "in the test split"},
      {"symbolic", "the output of the most likely world is the label"},
      {"neural", "q's most likely output is the label"},
      {"per_variable", "world variables read right"},
      {"explanation", "world variables right in the most probable explanation of the prediction"},
      {"satisfied", "sampled explanations that give the predicted output"},
      {"nll", "mean of -log q(label), in nats"},
      {"ece", "expected calibration error of q's confidence, 15 bins"},
      {"decided", "whether the output holds, by score and threshold, is what the label says"},
      {"believed.exact_match", "all variables of the most likely world are right"},
      {"believed.per_variable", "variables of the most likely world that are right"},
      {"believed.satisfied", "most likely worlds that satisfy the constraint"},
      {"constrained.exact_match", "all variables are right, of the most probable world under the constraint"},
      {"constrained.per_variable", "variables that are right, of the most probable world under the constraint"},
      {"constrained.satisfied", "most probable worlds under the constraint that satisfy it"},
      {"ms_per_query", "one example, from input to prediction; median"},
      {"seconds", "without evaluations"},
      {"restarts", "of perception"},
      {"labels_right", "world variables right in the explained training labels"}};
  const auto found = kMeanings.find(name);
  return found == kMeanings.end() ? "" : found->second;
}

std::string pointer_of(std::string name) {
  std::ranges::replace(name, '.', '/');
  return "/" + name;
}

std::vector<std::string> figure_names(const nlohmann::ordered_json& object, const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.items()) {
    if (value.is_number()) names.push_back(prefix + key);
    if (!value.is_object() || key == "machine") continue;
    const auto inner = figure_names(value, prefix + key + ".");
    names.insert(names.end(), inner.begin(), inner.end());
  }
  return names;
}

}  // namespace anesi
