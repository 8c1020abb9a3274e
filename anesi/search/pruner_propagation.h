// Propagation by asking a pruner about every variable after each decision.
//
// For any problem with a pruner. Under an exact one every value that is left has a completion, so the search meets no
// dead end but the price. A decision costs a question for each variable that has more than one value.
#pragma once

#include <vector>

#include "anesi/core/pruner.h"
#include "anesi/search/domains.h"
#include "anesi/search/propagation.h"

namespace anesi {

class PrunerPropagation final : public Propagation {
 public:
  // The pruner outlives it. Throws Error where a variable has more than 64 values.
  PrunerPropagation(const Pruner& pruner, const Space& worlds, Values output);

  std::span<const std::uint64_t> domains() const override { return domains_.masks(); }
  bool decide(std::int64_t variable, std::int64_t value) override;
  std::span<const std::int64_t> changed() const override { return domains_.changed(); }
  void undo() override;

 private:
  bool ask_about_all();
  std::uint64_t ask_about(std::int64_t variable) const;

  const Pruner& pruner_;
  std::vector<std::int64_t> sizes_, output_;
  Domains domains_;
  std::vector<std::int64_t> partial_;  // the value of each variable that has only one left, else kUnset
};

}  // namespace anesi
