#include "anesi/flow/flow_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "anesi/core/index.h"

namespace anesi {
namespace {

std::vector<std::string> chosen_words(const std::vector<std::int64_t>& values, char letter,
                                      const FlowWords::OfValue& word) {
  std::vector<std::string> chosen;
  for (std::size_t place = 0; place < values.size(); ++place) {
    const auto variable = static_cast<std::int64_t>(place);
    if (values[place] == kUnset) continue;
    chosen.push_back(word ? word(variable, values[place]) : fmt::format("{}{}={}", letter, variable, values[place]));
  }
  return chosen;
}

}  // namespace

std::vector<std::string> FlowWords::of_worlds(const FlowState& state) const {
  return chosen_words(state.world, 'w', world);
}

std::vector<std::string> FlowWords::of_outputs(const FlowState& state) const {
  return chosen_words(state.output, 'y', output);
}

std::string describe_state(const FlowNetwork& network, std::int64_t state, const FlowWords& words) {
  if (state == network.source()) return "P";
  if (state == network.sink()) return "end";
  const auto& at = network.states()[as_size(state)];
  auto parts = words.of_outputs(at);
  const auto worlds = words.of_worlds(at);
  if (network.view() == FlowView::kLattice && std::ranges::find(at.output, kUnset) == at.output.end()) {
    parts.push_back(fmt::format("{{{}}}", fmt::join(worlds, ", ")));
  } else {
    parts.insert(parts.end(), worlds.begin(), worlds.end());
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace anesi
