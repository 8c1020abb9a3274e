#include "anesi/exact/automaton.h"

#include <fmt/format.h>

#include <algorithm>

#include "anesi/core/error.h"
#include "anesi/core/thread_pool.h"
#include "anesi/exact/planned_step.h"

namespace anesi {
namespace {

constexpr std::int64_t kWorldsPerThread = 256;

}  // namespace

Automaton::Automaton(ReadingOrder reading, std::int64_t states, std::int64_t start, const Rule& rule)
    : reading_(std::move(reading)), start_(start) {
  for (std::int64_t index = 0; index < reading_.kinds(); ++index) {
    const auto& kind = reading_.kind(index);
    const auto combinations = kind.combinations();
    const auto size = static_cast<std::size_t>(std::max<std::int64_t>(states, 0) * combinations);
    auto& table =
        tables_.emplace_back(Table{states, states, std::vector<std::int32_t>(size), std::vector<std::int32_t>(size)});
    std::int64_t combination = 0;
    // A step that reads nothing has one combination, the empty one.
    const auto visit = [&](Values read) {
      for (std::int64_t state = 0; state < states; ++state) {
        const auto move = rule(index, read, state);
        const auto at = static_cast<std::size_t>(state * combinations + combination);
        table.emits[at] = static_cast<std::int32_t>(move.emits);
        table.next[at] = static_cast<std::int32_t>(move.next);
      }
      ++combination;
    };
    if (kind.read_domains.empty()) {
      visit({});
    } else {
      Space(kind.read_domains).for_each_point(visit);
    }
  }
  states_ = states;
  check_tables();
  find_widths();
}

Automaton::Automaton(ReadingOrder reading, std::vector<Table> tables, std::int64_t start)
    : reading_(std::move(reading)), tables_(std::move(tables)), start_(start) {
  for (const auto& table : tables_) states_ = std::max({states_, table.states, table.next_states});
  check_tables();
  find_widths();
}

void Automaton::check_tables() const {
  if (static_cast<std::int64_t>(tables_.size()) != reading_.kinds()) {
    throw Error(fmt::format("automaton: {} tables for {} kinds of steps", tables_.size(), reading_.kinds()));
  }
  for (std::int64_t index = 0; index < reading_.kinds(); ++index) {
    const auto& kind = reading_.kind(index);
    const auto& [states, next_states, emits, next] = table(index);
    const auto entries = static_cast<std::size_t>(std::max<std::int64_t>(states, 0) * kind.combinations());
    if (emits.size() != entries || next.size() != entries) {
      throw Error(fmt::format("automaton: the table of kind {} has another size than {} states and {} combinations",
                              index, states, kind.combinations()));
    }
    for (std::size_t entry = 0; entry < entries; ++entry) {
      if (next[entry] >= 0 && next[entry] < next_states && emits[entry] >= 0 && emits[entry] < kind.emit_domain)
        continue;
      throw Error(fmt::format("automaton: a step of kind {} in state {} moves to state {} and emits {}", index,
                              entry / static_cast<std::size_t>(kind.combinations()), next[entry], emits[entry]));
    }
  }
}

void Automaton::find_widths() {
  const auto& steps = reading_.steps();
  const auto known = steps.empty() ? 1 : table(steps[0].kind).states;
  if (start_ < 0 || start_ >= known) throw Error(fmt::format("automaton: it starts in state {} of {}", start_, known));
  auto width = start_ + 1;
  for (const auto& step : steps) {
    const auto& moves = table(step.kind);
    if (width > moves.states) {
      throw Error(fmt::format("automaton: step {} of {} knows {} states, but {} can be reached", widths_.size(),
                              steps.size(), moves.states, width));
    }
    widths_.push_back(width);
    const auto reached = moves.next.begin() + width * reading_.kind(step.kind).combinations();
    width = 1 + *std::max_element(moves.next.begin(), reached);
  }
  widths_.push_back(width);
}

Automaton::Move Automaton::move(std::int64_t kind, std::int64_t combination, std::int64_t state) const {
  const auto& moves = table(kind);
  const auto at = static_cast<std::size_t>(state * reading_.kind(kind).combinations() + combination);
  return {moves.emits[at], moves.next[at]};
}

Points Automaton::run(PointRows worlds) const {
  const auto steps = planned_steps(reading_);
  Points outputs(worlds.size(), std::ssize(reading_.emitted()));
  parallel_for(worlds.size(), kWorldsPerThread, [&](std::int64_t begin, std::int64_t end) {
    for (auto row = begin; row < end; ++row) {
      const auto world = worlds[row];
      const auto output = outputs[row];
      auto state = start_;
      for (const auto& step : steps) {
        std::int64_t combination = 0;
        for (std::size_t index = 0; index < step.reads.size(); ++index) {
          combination = combination * step.domains[index] + world[static_cast<std::size_t>(step.reads[index])];
        }
        const auto& moves = table(step.kind);
        const auto at = static_cast<std::size_t>(state * step.combinations + combination);
        if (step.emits >= 0) output[static_cast<std::size_t>(step.emits)] = moves.emits[at];
        state = moves.next[at];
      }
    }
  });
  return outputs;
}

}  // namespace anesi
