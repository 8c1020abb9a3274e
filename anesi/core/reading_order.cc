#include "anesi/core/reading_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "anesi/core/error.h"

namespace anesi {
namespace {

// Marks `variable` as used; `what` is "world" or "output".
void use_once(std::vector<bool>& used, std::int64_t variable, const char* what) {
  if (variable < 0 || variable >= static_cast<std::int64_t>(used.size())) {
    throw Error(fmt::format("reading order: {} variable {} does not exist; there are {}", what, variable, used.size()));
  }
  const auto index = static_cast<std::size_t>(variable);
  if (used[index]) throw Error(fmt::format("reading order: {} variable {} appears twice", what, variable));
  used[index] = true;
}

void all_used(const std::vector<bool>& used, const char* what) {
  const auto missing = std::ranges::find(used, false);
  if (missing != used.end()) {
    throw Error(fmt::format("reading order: {} variable {} is missing", what, missing - used.begin()));
  }
}

}  // namespace

std::int64_t ReadingOrder::Kind::combinations() const {
  std::int64_t product = 1;
  for (const auto domain : read_domains) product *= domain;
  return product;
}

std::vector<std::int64_t> ReadingOrder::read() const {
  std::vector<std::int64_t> variables;
  for (const auto& step : steps_) variables.insert(variables.end(), step.reads.begin(), step.reads.end());
  return variables;
}

ReadingOrder::ReadingOrder(const Space& worlds, const Space& outputs, std::vector<ReadingStep> steps)
    : steps_(std::move(steps)) {
  std::vector<bool> read(static_cast<std::size_t>(worlds.variables())),
      written(static_cast<std::size_t>(outputs.variables())), seen;
  for (const auto& step : steps_) {
    Kind shape;
    for (const auto variable : step.reads) {
      use_once(read, variable, "world");
      shape.read_domains.push_back(worlds.domain(variable));
    }
    if (step.emits) {
      use_once(written, *step.emits, "output");
      shape.emit_domain = outputs.domain(*step.emits);
      emitted_.push_back(*step.emits);
    }
    if (step.kind < 0) throw Error(fmt::format("reading order: kind {} is negative", step.kind));
    const auto kind = static_cast<std::size_t>(step.kind);
    if (kind >= kinds_.size()) {
      kinds_.resize(kind + 1);
      seen.resize(kind + 1);
    }
    if (!seen[kind]) {
      seen[kind] = true;
      kinds_[kind] = shape;
    } else if (kinds_[kind] != shape) {
      throw Error(fmt::format("reading order: steps of kind {} differ in what they read or emit", step.kind));
    }
  }
  const auto unused = std::ranges::find(seen, false);
  if (unused != seen.end()) {
    throw Error(fmt::format("reading order: no step is of kind {}; number the kinds from 0 on", unused - seen.begin()));
  }
  all_used(read, "world");
  all_used(written, "output");
}

std::string ReadingOrder::complaint(const Space& worlds, const Space& outputs) const {
  try {
    const ReadingOrder same(worlds, outputs, steps_);
    return same.kinds_ == kinds_ ? "" : "it is for variables of other domains";
  } catch (const Error& error) {
    return error.what();
  }
}

ReadingOrder ReadingOrder::all_then_emit(const Space& worlds, const Space& outputs) {
  std::vector<ReadingStep> steps;
  // Worlds of one domain share a kind; each output variable has its own, since nothing says that two of them are alike.
  std::vector<std::int64_t> domains;
  for (std::int64_t variable = 0; variable < worlds.variables(); ++variable) {
    auto known = std::ranges::find(domains, worlds.domain(variable));
    if (known == domains.end()) known = domains.insert(domains.end(), worlds.domain(variable));
    steps.push_back({.reads = {variable}, .emits = std::nullopt, .kind = known - domains.begin()});
  }
  const auto kinds = static_cast<std::int64_t>(domains.size());
  for (std::int64_t variable = 0; variable < outputs.variables(); ++variable) {
    steps.push_back({.reads = {}, .emits = variable, .kind = kinds + variable});
  }
  return ReadingOrder(worlds, outputs, std::move(steps));
}

ReadingOrder reading_order_of(const Problem& problem) {
  const auto* const known = problem.facts().find<ReadingOrder>();
  return known != nullptr ? *known : ReadingOrder::all_then_emit(problem.worlds(), problem.outputs());
}

}  // namespace anesi
