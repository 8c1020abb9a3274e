// The priors by name. A prior registers itself:
//
//   ANESI_PRIOR("certain", "every world equally likely, and beliefs certain of it", NoOptions,
//               [](const NoOptions&, const Space& worlds, const PriorOptions& common) { … });
//
// Its own options then appear under its name; what several of them share are the options of `prior`.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "anesi/core/space.h"
#include "anesi/options/option_table.h"
#include "anesi/options/registry.h"
#include "anesi/priors/dirichlet.h"
#include "anesi/priors/prior.h"

namespace anesi {

struct PriorOptions {
  std::string kind = "fitted";
  double concentration = 0.2;
  DirichletFit fit;

  void describe(OptionTable& table);
};

// Options as they are. Throws UsageError where one of them is what the option of that name would refuse: options need
// not come from text.
template <typename Options>
Options within_ranges(const std::string& prior, Options options) {
  OptionTable table;
  table.add_group(prior, options);
  for (const auto& row : table.rows()) table.set(row.name, row.fallback);
  return options;
}

using PriorChoice = Choice<std::unique_ptr<BeliefPrior>(const Space& worlds, const PriorOptions& common)>;
using PriorEntry = Choosable<std::unique_ptr<BeliefPrior>(const Space& worlds, const PriorOptions& common)>;

Registry<PriorEntry>& priors();

#define ANESI_PRIOR(name, summary, Options, ...)                                                                     \
  [[maybe_unused]] const bool ANESI_UNIQUE_NAME(registered_prior_) = ::anesi::priors().add(                          \
      name,                                                                                                          \
      ::anesi::choosable<std::unique_ptr<::anesi::BeliefPrior>(const ::anesi::Space&, const ::anesi::PriorOptions&), \
                         Options>(summary, __VA_ARGS__))

}  // namespace anesi
