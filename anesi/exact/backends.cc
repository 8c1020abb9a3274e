#include "anesi/exact/backends.h"

#include <fmt/format.h>

#include <algorithm>

#include "anesi/core/error.h"

namespace anesi {
namespace {

constexpr double kOperationsASecond = 1e9;

double expected_seconds(const BackendCost& cost) {
  return cost.seconds + kExpectedExamples * cost.operations / kOperationsASecond;
}

}  // namespace

Registry<BackendEntry>& backends() {
  static Registry<BackendEntry> registry("exact method");
  return registry;
}

void ExactOptions::describe(OptionTable& table) {
  auto names = backends().names();
  names.insert(names.begin(), "auto");
  table.add("method", method, names, "back end of exact inference; auto: the cheapest that the problem allows");
  table.add("seconds", seconds, {0.1, 1000000}, "time limit of compiling a circuit");
  table.add("gigabytes", gigabytes, {0.001, 1000000}, "memory that a back end may need to be chosen by auto");
}

ChosenBackend choose_backend(const Problem& problem, const ExactOptions& options) {
  ChosenBackend chosen;
  if (options.method != "auto") {
    const auto& entry = backends().find(options.method);
    if (!entry.applies(problem, options)) {
      chosen.why_not =
          fmt::format("exact inference by {}: the problem does not declare what that needs", options.method);
      return chosen;
    }
    return {options.method, entry.make(problem, options), {}};
  }
  struct Candidate {
    std::string name;
    const BackendEntry* entry;
    double seconds;
  };
  std::vector<Candidate> candidates;
  for (const auto& [name, entry] : backends().all()) {
    if (!entry.chosen_automatically) continue;
    const auto cost = entry.applies(problem, options);
    if (cost && cost->bytes <= options.gigabytes * 1e9) candidates.push_back({name, &entry, expected_seconds(*cost)});
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::seconds);
  chosen.why_not =
      "exact inference: the problem declares no automaton and no formula, and has too many worlds to enumerate";
  for (const auto& [name, entry, seconds] : candidates) {
    try {
      return {name, entry->make(problem, options), chosen.why_not};
    } catch (const Error& error) {
      chosen.why_not = error.what();
    }
  }
  return chosen;
}

std::shared_ptr<const Backend> make_backend(const Problem& problem, const ExactOptions& options) {
  auto chosen = choose_backend(problem, options);
  if (!chosen.backend) throw Error(chosen.why_not);
  return chosen.backend;
}

}  // namespace anesi
