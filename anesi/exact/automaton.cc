#include "anesi/exact/automaton.h"

#include <fmt/format.h>

#include "anesi/core/error.h"

namespace anesi {

Automaton::Automaton(ReadingOrder reading, std::int64_t states, std::int64_t start, const Rule& rule)
    : reading_(std::move(reading)), states_(states), start_(start) {
  if (states < 1 || start < 0 || start >= states) {
    throw Error(fmt::format("automaton: it starts in state {} of {}", start, states));
  }
  for (std::int64_t index = 0; index < reading_.kinds(); ++index) {
    const auto& kind = reading_.kind(index);
    auto& moves = moves_.emplace_back();
    // A step that reads nothing has one combination, the empty one.
    const auto visit = [&](Values read) {
      for (std::int64_t state = 0; state < states_; ++state) {
        const auto move = rule(index, read, state);
        if (move.next < 0 || move.next >= states_ || move.emits < 0 || move.emits >= kind.emit_domain) {
          throw Error(fmt::format("automaton: a step of kind {} in state {} moves to state {} and emits {}", index,
                                  state, move.next, move.emits));
        }
        moves.push_back(move);
      }
    };
    if (kind.read_domains.empty()) {
      visit({});
    } else {
      Space(kind.read_domains).for_each_point(visit);
    }
  }
}

torch::Tensor Automaton::table(std::int64_t kind) const {
  const auto combinations = reading_.kind(kind).combinations();
  auto table = torch::zeros({reading_.kind(kind).emit_domain, combinations, states_, states_}, torch::kFloat64);
  auto entries = table.accessor<double, 4>();
  for (std::int64_t combination = 0; combination < combinations; ++combination) {
    for (std::int64_t state = 0; state < states_; ++state) {
      const auto& to = move(kind, combination, state);
      entries[to.emits][combination][state][to.next] = 1;
    }
  }
  return table;
}

}  // namespace anesi
