#include "anesi/search/pruner_propagation.h"

#include <array>
#include <bit>

namespace anesi {

PrunerPropagation::PrunerPropagation(const Pruner& pruner, const Space& worlds, Values output)
    : pruner_(pruner),
      sizes_(worlds.domains()),
      output_(output.begin(), output.end()),
      domains_(worlds),
      partial_(sizes_.size(), kUnset) {
  if (!ask_about_all()) domains_.keep(0, 0);
}

bool PrunerPropagation::decide(std::int64_t variable, std::int64_t value) {
  domains_.begin_decision();
  domains_.keep(variable, std::uint64_t{1} << value);
  partial_[static_cast<std::size_t>(variable)] = value;
  return ask_about_all();
}

void PrunerPropagation::undo() {
  // A domain that changed had more than one value before.
  for (const auto variable : domains_.changed()) partial_[static_cast<std::size_t>(variable)] = kUnset;
  domains_.undo();
}

bool PrunerPropagation::ask_about_all() {
  for (std::size_t index = 0; index < partial_.size(); ++index) {
    if (partial_[index] != kUnset) continue;
    const auto variable = static_cast<std::int64_t>(index);
    domains_.keep(variable, ask_about(variable));
    if (domains_[variable] == 0) return false;
    if (domains_.is_decided(variable)) partial_[index] = std::countr_zero(domains_[variable]);
  }
  return true;
}

std::uint64_t PrunerPropagation::ask_about(std::int64_t variable) const {
  std::array<bool, kMostValuesSearched> allowed{};
  const auto size = static_cast<std::size_t>(sizes_[static_cast<std::size_t>(variable)]);
  pruner_.allow_worlds(output_, partial_, variable, Mask(allowed.data(), size));
  std::uint64_t mask = 0;
  for (std::size_t value = 0; value < size; ++value) mask |= std::uint64_t{allowed[value]} << value;
  return mask;
}

}  // namespace anesi
