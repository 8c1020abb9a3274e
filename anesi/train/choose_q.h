// The q that suits a function which nobody described: q.architecture=auto.
//
// The first of these that there is: exact inference by what the problem declares, an automaton or a formula, or by
// enumeration where worlds are few; exact inference by a memory that discovery finds, or else by enumeration where they
// are not too many; tables, where each output is of a few world variables; and else a neural q along the order that
// matters to the outputs, `scan` or `mlp`, whichever gives held-out samples of c the higher likelihood after a short
// training. A formula that does not compile in time is passed over; where it is a constraint, `graph` learns from its
// clauses, since few worlds if any that are asked about satisfy it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "anesi/discover/discover.h"
#include "anesi/models/inference_model.h"

namespace anesi {

inline constexpr const char* kAutoArchitecture = "auto";

struct ChosenQ {
  std::shared_ptr<const Problem> problem;    // with the facts that were found, FoundFacts among them
  std::string architecture = {};             // kExactArchitecture where nothing is left to learn
  std::string reason = {};                   // in a line
  std::optional<Discovery> discovery = {};   // empty where c did not have to be asked
  std::optional<InferenceModel> model = {};  // of that architecture, where it was made to find out whether it can be

  bool is_exact() const;
};

// `make` makes a q of an architecture, for those that are compared, or exact inference (kExactArchitecture); it throws
// Error where the problem does not allow that. Throws what discover() throws.
ChosenQ choose_q(const std::shared_ptr<const Problem>& problem, const DiscoverOptions& options, std::uint64_t seed,
                 const std::function<InferenceModel(const Problem&, const std::string& architecture)>& make,
                 const std::function<void(const std::string&)>& say = {});

}  // namespace anesi
