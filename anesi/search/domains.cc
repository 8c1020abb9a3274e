#include "anesi/search/domains.h"

#include <fmt/format.h>

#include "anesi/core/error.h"

namespace anesi {

Domains::Domains(const Space& space) {
  masks_.reserve(space.domains().size());
  for (const auto values : space.domains()) {
    if (values > kMostValuesSearched) {
      throw Error(fmt::format("search: variable {} has {} values; a search takes up to {}", masks_.size(), values,
                              kMostValuesSearched));
    }
    masks_.push_back(~std::uint64_t{0} >> (kMostValuesSearched - values));
  }
  const auto changes = masks_.size() * 4;
  variables_.reserve(changes);
  before_.reserve(changes);
  decisions_.reserve(masks_.size());
}

void Domains::undo() {
  const auto begin = decisions_.back();
  decisions_.pop_back();
  for (auto change = variables_.size(); change-- > begin;) {
    masks_[static_cast<std::size_t>(variables_[change])] = before_[change];
  }
  variables_.resize(begin);
  before_.resize(begin);
}

}  // namespace anesi
