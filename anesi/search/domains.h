// The domains of a search and how they became smaller: what every propagation is made of.
//
// A domain is a machine word, bit v for value v. Each change is remembered, so that a decision can be taken back at the
// price of what followed from it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "anesi/core/space.h"

namespace anesi {

inline constexpr std::int64_t kMostValuesSearched = 64;

class Domains {
 public:
  // Every value of every variable. Throws Error where a variable has more than kMostValuesSearched.
  explicit Domains(const Space& space);

  std::span<const std::uint64_t> masks() const { return masks_; }
  std::uint64_t operator[](std::int64_t variable) const { return masks_[static_cast<std::size_t>(variable)]; }
  bool is_decided(std::int64_t variable) const { return ((*this)[variable] & ((*this)[variable] - 1)) == 0; }

  // What keep() does from here on is taken back by the next undo(). Decisions nest.
  void begin_decision() { decisions_.push_back(variables_.size()); }

  // Takes all values but those of `mask` from a domain; true where that made it smaller.
  bool keep(std::int64_t variable, std::uint64_t mask) {
    auto& domain = masks_[static_cast<std::size_t>(variable)];
    if ((domain & ~mask) == 0) return false;
    variables_.push_back(variable);
    before_.push_back(domain);
    domain &= mask;
    return true;
  }

  // The variables that became smaller since the last decision began, in the order of events.
  std::span<const std::int64_t> changed() const {
    return std::span(variables_).subspan(decisions_.empty() ? 0 : decisions_.back());
  }

  void undo();

 private:
  std::vector<std::uint64_t> masks_;
  std::vector<std::int64_t> variables_;  // every change: whose domain,
  std::vector<std::uint64_t> before_;    // and what it was
  std::vector<std::size_t> decisions_;   // how many changes there were when each began
};

}  // namespace anesi
