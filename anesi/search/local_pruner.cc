#include "anesi/search/local_pruner.h"

#include <fmt/format.h>

#include <algorithm>

#include "anesi/core/error.h"

namespace anesi {
namespace {

constexpr double kMostCombinations = 1e6;

class LocalPruner final : public Pruner {
 public:
  LocalPruner(Space worlds, Space outputs, std::vector<LocalConstraint> constraints)
      : worlds_(std::move(worlds)), outputs_(std::move(outputs)), constraints_(std::move(constraints)) {
    of_world_.resize(static_cast<std::size_t>(worlds_.variables()));
    of_output_.resize(static_cast<std::size_t>(outputs_.variables()));
    unset_.assign(of_world_.size(), kUnset);
    for (const auto& constraint : constraints_) {
      double combinations = 1;
      const auto look_at = [&](const std::vector<std::int64_t>& variables, const Space& space, auto& index) {
        for (const auto variable : variables) {
          if (variable < 0 || variable >= space.variables()) {
            throw Error(fmt::format("local pruner: a constraint looks at variable {}; there are {}", variable,
                                    space.variables()));
          }
          combinations *= static_cast<double>(space.domain(variable));
          index[static_cast<std::size_t>(variable)].push_back(&constraint);
        }
      };
      look_at(constraint.worlds, worlds_, of_world_);
      look_at(constraint.outputs, outputs_, of_output_);
      if (combinations > kMostCombinations) throw Error("local pruner: a constraint looks at too many variables");
    }
  }

  void allow_outputs(Values partial, std::int64_t variable, Mask mask) const override {
    allow(unset_, partial, of_output_[static_cast<std::size_t>(variable)], variable, /*is_output=*/true, mask);
  }

  void allow_worlds(Values output, Values partial, std::int64_t variable, Mask mask) const override {
    allow(partial, output, of_world_[static_cast<std::size_t>(variable)], variable, /*is_output=*/false, mask);
  }

  bool is_exact() const override { return false; }

 private:
  void allow(Values world, Values output, const std::vector<const LocalConstraint*>& constraints, std::int64_t variable,
             bool is_output, Mask mask) const {
    for (std::size_t value = 0; value < mask.size(); ++value) {
      mask[value] = std::ranges::all_of(constraints, [&](const LocalConstraint* constraint) {
        return can_hold(*constraint, world, output, variable, static_cast<std::int64_t>(value), is_output);
      });
    }
  }

  // Whether some values of the constraint's open variables meet it, with `variable` at `value`.
  bool can_hold(const LocalConstraint& constraint, Values world, Values output, std::int64_t variable,
                std::int64_t value, bool is_output) const {
    std::vector<std::int64_t> worlds, outputs;
    const auto known = [&](const std::vector<std::int64_t>& variables, Values from, bool outputs_now, auto& into) {
      for (const auto index : variables) {
        into.push_back(index == variable && outputs_now == is_output ? value : from[static_cast<std::size_t>(index)]);
      }
    };
    known(constraint.worlds, world, false, worlds);
    known(constraint.outputs, output, true, outputs);
    return fill(constraint, worlds, outputs, 0);
  }

  // Tries all values of the open variables from `place` on, worlds first.
  bool fill(const LocalConstraint& constraint, std::vector<std::int64_t>& worlds, std::vector<std::int64_t>& outputs,
            std::size_t place) const {
    if (place == worlds.size() + outputs.size()) return constraint.holds(worlds, outputs);
    const bool is_world = place < worlds.size();
    const auto index = is_world ? place : place - worlds.size();
    auto& slot = is_world ? worlds[index] : outputs[index];
    if (slot != kUnset) return fill(constraint, worlds, outputs, place + 1);
    const auto domain =
        is_world ? worlds_.domain(constraint.worlds[index]) : outputs_.domain(constraint.outputs[index]);
    bool found = false;
    for (std::int64_t value = 0; value < domain && !found; ++value) {
      slot = value;
      found = fill(constraint, worlds, outputs, place + 1);
    }
    slot = kUnset;
    return found;
  }

  Space worlds_, outputs_;
  std::vector<LocalConstraint> constraints_;
  std::vector<std::vector<const LocalConstraint*>> of_world_, of_output_;
  std::vector<std::int64_t> unset_;
};

}  // namespace

std::unique_ptr<Pruner> make_local_pruner(const Space& worlds, const Space& outputs,
                                          std::vector<LocalConstraint> constraints) {
  return std::make_unique<LocalPruner>(worlds, outputs, std::move(constraints));
}

}  // namespace anesi
