#include "anesi/search/automaton_pruner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "anesi/core/error.h"

namespace anesi {
namespace {

using States = std::uint64_t;  // a set of states

constexpr std::int64_t kMostStates = 64, kMostEntries = 1 << 24;

// What a step of one kind can do, for every choice of its variables including "not chosen yet".
struct KindTable {
  KindTable(const Automaton& automaton, std::int64_t kind_index) : states(automaton.states()) {
    const auto& kind = automaton.reading().kind(kind_index);
    domains = kind.read_domains;
    domains.push_back(kind.emit_domain);
    std::int64_t entries = 1;
    strides.resize(domains.size());
    for (auto axis = domains.size(); axis-- > 0;) {
      strides[axis] = entries;
      entries *= domains[axis] + 1;  // one more for "not chosen yet", the last
      if (entries * states > kMostEntries) {
        throw Error("automaton pruner: a step reads too many combinations; read fewer variables in a step");
      }
    }
    next.assign(static_cast<std::size_t>(entries * states), 0);
    for (std::int64_t combination = 0; combination < kind.combinations(); ++combination) {
      std::int64_t base = 0, rest = combination;
      for (auto axis = kind.read_domains.size(); axis-- > 0;) {
        base += rest % domains[axis] * strides[axis];
        rest /= domains[axis];
      }
      for (std::int64_t state = 0; state < automaton.table(kind_index).states; ++state) {
        const auto move = automaton.move(kind_index, combination, state);
        next[static_cast<std::size_t>((base + move.emits) * states + state)] |= States{1} << move.next;
      }
    }
    // A variable that is not chosen yet may take any value: along each axis in turn, the last entry is all the others.
    for (std::size_t axis = 0; axis < domains.size(); ++axis) {
      for (std::int64_t entry = 0; entry < entries; ++entry) {
        if (entry / strides[axis] % (domains[axis] + 1) != domains[axis]) continue;
        for (std::int64_t value = 1; value <= domains[axis]; ++value) {
          for (std::int64_t state = 0; state < states; ++state) {
            next[static_cast<std::size_t>(entry * states + state)] |=
                next[static_cast<std::size_t>((entry - value * strides[axis]) * states + state)];
          }
        }
      }
    }
  }

  std::int64_t states;
  std::vector<std::int64_t> domains, strides;  // of the variables read, then the one emitted
  std::vector<States> next;                    // [entry, state]
};

class AutomatonPruner final : public Pruner {
 public:
  explicit AutomatonPruner(std::shared_ptr<const Automaton> automaton) : automaton_(std::move(automaton)) {
    if (automaton_->states() > kMostStates) {
      throw Error(fmt::format("automaton pruner: {} states; it takes up to {}", automaton_->states(), kMostStates));
    }
    const auto& reading = automaton_->reading();
    for (std::int64_t kind = 0; kind < reading.kinds(); ++kind) kinds_.emplace_back(*automaton_, kind);
    for (std::size_t step = 0; step < reading.steps().size(); ++step) {
      const auto place = [&](std::vector<std::size_t>& steps, std::int64_t variable) {
        steps.resize(std::max(steps.size(), static_cast<std::size_t>(variable) + 1));
        steps[static_cast<std::size_t>(variable)] = step;
      };
      for (const auto variable : reading.steps()[step].reads) place(step_of_world_, variable);
      if (reading.steps()[step].emits) place(step_of_output_, *reading.steps()[step].emits);
    }
    unset_.assign(std::max(step_of_world_.size(), step_of_output_.size()), kUnset);
  }

  void allow_outputs(Values partial, std::int64_t variable, Mask mask) const override {
    const auto step = step_of_output_[static_cast<std::size_t>(variable)];
    allow(unset_, partial, step, automaton_->reading().steps()[step].reads.size(), mask);
  }

  void allow_worlds(Values output, Values partial, std::int64_t variable, Mask mask) const override {
    const auto step = step_of_world_[static_cast<std::size_t>(variable)];
    const auto& reads = automaton_->reading().steps()[step].reads;
    allow(partial, output, step, static_cast<std::size_t>(std::ranges::find(reads, variable) - reads.begin()), mask);
  }

 private:
  // Which entry of its kind's table a step is at. Where a value lies outside its domain there is none (negative).
  std::int64_t entry(const KindTable& kind, const ReadingStep& step, Values world, Values output) const {
    std::int64_t at = 0;
    const auto add = [&](std::size_t axis, std::int64_t value) {
      if (value != kUnset && (value < 0 || value >= kind.domains[axis])) return false;
      at += (value == kUnset ? kind.domains[axis] : value) * kind.strides[axis];
      return true;
    };
    for (std::size_t axis = 0; axis < step.reads.size(); ++axis) {
      if (!add(axis, world[static_cast<std::size_t>(step.reads[axis])])) return -1;
    }
    const auto emitted = step.emits ? output[static_cast<std::size_t>(*step.emits)] : 0;
    return add(step.reads.size(), emitted) ? at : -1;
  }

  // Sets mask[v] for the variable on `axis` of step `target`.
  void allow(Values world, Values output, std::size_t target, std::size_t axis, Mask mask) const {
    const auto& steps = automaton_->reading().steps();
    const auto states = automaton_->states();
    States reached = States{1} << automaton_->start();
    for (std::size_t index = 0; index < target; ++index) {
      const auto& kind = kinds_[static_cast<std::size_t>(steps[index].kind)];
      const auto at = entry(kind, steps[index], world, output);
      if (at < 0) return;
      const auto* const next = kind.next.data() + at * states;
      States after = 0;
      for (auto left = reached; left != 0; left &= left - 1) after |= next[std::countr_zero(left)];
      reached = after;
    }
    States completable = states == kMostStates ? ~States{0} : (States{1} << states) - 1;
    for (auto index = steps.size(); index-- > target + 1;) {
      const auto& kind = kinds_[static_cast<std::size_t>(steps[index].kind)];
      const auto at = entry(kind, steps[index], world, output);
      if (at < 0) return;
      const auto* const next = kind.next.data() + at * states;
      States before = 0;
      for (std::int64_t state = 0; state < states; ++state) {
        before |= static_cast<States>((next[state] & completable) != 0) << state;
      }
      completable = before;
    }
    const auto& kind = kinds_[static_cast<std::size_t>(steps[target].kind)];
    const auto at = entry(kind, steps[target], world, output);
    if (at < 0) return;
    // From where the variable now stands on its axis ("not chosen yet") to each of its values.
    const auto stride = kind.strides[axis], domain = kind.domains[axis];
    const auto first = at - at / stride % (domain + 1) * stride;
    for (std::int64_t value = 0; value < domain; ++value) {
      const auto* const next = kind.next.data() + (first + value * stride) * states;
      for (auto left = reached; left != 0 && !mask[static_cast<std::size_t>(value)]; left &= left - 1) {
        mask[static_cast<std::size_t>(value)] = (next[std::countr_zero(left)] & completable) != 0;
      }
    }
  }

  std::shared_ptr<const Automaton> automaton_;
  std::vector<KindTable> kinds_;
  std::vector<std::size_t> step_of_world_, step_of_output_;
  std::vector<std::int64_t> unset_;  // a world of which nothing is chosen
};

}  // namespace

std::unique_ptr<Pruner> make_automaton_pruner(std::shared_ptr<const Automaton> automaton) {
  return std::make_unique<AutomatonPruner>(std::move(automaton));
}

}  // namespace anesi
