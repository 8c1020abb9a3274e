#include "anesi/exact/automaton_kernel.h"

#include <algorithm>
#include <cmath>

#include "anesi/core/index.h"
#include "anesi/core/vectorized.h"
#include "anesi/exact/finite_state.h"
#include "anesi/exact/lanes.h"

namespace anesi {
namespace {

// States are normalised to one at each step, so what underflows on the way to log p(y|P) is at most e^-700 of all:
// beside a result above this it cannot matter.
constexpr double kSurelyRight = -600;

// Edges in order of (value emitted, state of the group, other state).
struct Move {
  std::int32_t emits, group, state, combination;
  auto operator<=>(const Move&) const = default;
};

std::vector<AutomatonKernel::Edges> grouped(std::vector<Move> moves, std::int64_t emitted) {
  std::ranges::sort(moves);
  std::vector<AutomatonKernel::Edges> of_values(as_size(emitted));
  for (const auto& move : moves) {
    auto& [groups, edges] = of_values[as_size(move.emits)];
    if (groups.empty() || groups.back().state != move.group) groups.push_back({move.group, 0});
    edges.push_back({move.state, move.combination});
    groups.back().end = static_cast<std::int32_t>(edges.size());
  }
  return of_values;
}

}  // namespace

AutomatonKernel::AutomatonKernel(const AutomatonSteps& machine) {
  const auto& reading = machine.automaton().reading();
  for (std::int64_t index = 0; index < reading.kinds(); ++index) {
    const auto& table = machine.automaton().table(index);
    const auto combinations = reading.kind(index).combinations();
    std::vector<Move> into, out_of;
    for (std::size_t entry = 0; entry < table.next.size(); ++entry) {
      const auto state = static_cast<std::int32_t>(static_cast<std::int64_t>(entry) / combinations);
      const auto combination = static_cast<std::int32_t>(static_cast<std::int64_t>(entry) % combinations);
      into.push_back({table.emits[entry], table.next[entry], state, combination});
      out_of.push_back({table.emits[entry], state, table.next[entry], combination});
    }
    const auto emitted = reading.kind(index).emit_domain;
    kinds_.push_back({grouped(std::move(into), emitted), grouped(std::move(out_of), emitted)});
  }
  places_.push_back(0);
  for (const auto domain : machine.worlds().domains()) places_.push_back(places_.back() + as_size(domain));
}

AutomatonKernel::Room::Room(const AutomatonKernel& kernel, const AutomatonSteps& machine)
    : beliefs(kernel.places().back()),
      gradient(beliefs.size()),
      states(machine.offsets().back()),
      totals(machine.steps().size()) {
  std::size_t combinations = 1, built = 1, values = 1, reads = 1, width = 1;
  for (std::size_t step = 0; step < machine.steps().size(); ++step) {
    const auto& planned = machine.steps()[step];
    combinations = std::max(combinations, as_size(planned.combinations));
    std::size_t size = 1, sum = 0;
    for (const auto domain : planned.domains) sum += size *= as_size(domain);
    built = std::max(built, sum);
    values = std::max(values, as_size(planned.emitted));
    reads = std::max(reads, planned.reads.size());
    width = std::max(width, as_size(machine.width(step + 1)));
  }
  width = std::max(width, as_size(machine.width(0)));
  weights = LaneArray(built);
  levels.resize(reads);
  weight_gradient = LaneArray(combinations);
  admitted = LaneArray(values);
  first = LaneArray(width);
  second = LaneArray(width);
}

namespace {

constexpr Lanes kOnes = Lanes{} + 1;

// See finite_state.h.
struct AutomatonMoves {
  const AutomatonSteps& machine;
  const AutomatonKernel& kernel;
  const Query& rows;
  AutomatonKernel::Room& room;

  std::int64_t steps() const { return std::ssize(machine.steps()); }
  std::int64_t width(std::int64_t step) const { return machine.width(as_size(step)); }
  Lanes* states(std::int64_t step) const { return room.states.data() + machine.offsets()[as_size(step)]; }
  Lanes* total(std::int64_t step) const { return room.totals.data() + step; }

  // Which emissions of a step are asked for. Lanes past the last row repeat it.
  void find_asked(const PlannedStep& step) const {
    room.asked.clear();
    if (step.emits < 0) {
      room.asked.push_back(0);
      room.admitted[0] = kOnes;
      return;
    }
    std::fill_n(room.admitted.begin(), step.emitted, Lanes{});
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const auto row = std::min(lane, rows.size() - 1);
      const auto wanted = rows.outputs[row][as_size(step.emits)];
      if (wanted >= 0) {
        room.admitted[as_size(wanted)][lane] = 1;
        room.asked.push_back(static_cast<std::int32_t>(wanted));
      } else {
        for (std::int64_t value = 0; value < step.emitted; ++value) {
          if (!admits(wanted, value)) continue;
          room.admitted[as_size(value)][lane] = 1;
          room.asked.push_back(static_cast<std::int32_t>(value));
        }
      }
    }
    std::ranges::sort(room.asked);
    const auto repeated = std::ranges::unique(room.asked);
    room.asked.erase(repeated.begin(), repeated.end());
  }

  // The probabilities of a variable's values.
  [[gnu::always_inline]] Lanes* beliefs(std::int64_t variable) const {
    return room.beliefs.data() + kernel.places()[as_size(variable)];
  }

  // How likely each combination of what the first `index` + 1 variables of a step read is, once weigh() has run.
  [[gnu::always_inline]] const Lanes* level(const PlannedStep& step, std::size_t index) const {
    return index == 0 ? beliefs(step.reads[0]) : room.weights.data() + room.levels[index];
  }

  // The probability of each combination that a step reads, the last variable running fastest.
  [[gnu::always_inline]] const Lanes* weigh(const PlannedStep& step) const {
    if (step.reads.empty()) return &kOnes;
    auto size = step.domains[0];
    std::size_t place = 0;
    for (std::size_t index = 1; index < step.reads.size(); ++index) {
      const auto* const before = level(step, index - 1);
      const auto* const of_values = beliefs(step.reads[index]);
      const auto domain = step.domains[index];
      auto* const next = room.weights.data() + place;
      for (std::int64_t one = 0; one < size; ++one) {
        for (std::int64_t value = 0; value < domain; ++value) {
          next[one * domain + value] = before[one] * of_values[value];
        }
      }
      room.levels[index] = place;
      size *= domain;
      place += as_size(size);
    }
    return level(step, step.reads.size() - 1);
  }

  // From the gradient of the combinations' weights that of the beliefs. Uses it up.
  [[gnu::always_inline]] void weigh_backward(const PlannedStep& step, Lanes* of_weights) const {
    auto size = step.combinations;
    for (auto index = step.reads.size(); index-- > 1;) {
      const auto* const of_values = beliefs(step.reads[index]);
      const auto* const before = level(step, index - 1);
      auto* const gradient = room.gradient.data() + kernel.places()[as_size(step.reads[index])];
      const auto domain = step.domains[index];
      size /= domain;
      std::fill_n(gradient, domain, Lanes{});
      for (std::int64_t one = 0; one < size; ++one) {
        const Lanes share = before[one];
        Lanes sum{};
        for (std::int64_t value = 0; value < domain; ++value) {
          const Lanes of_weight = of_weights[one * domain + value];
          gradient[value] += of_weight * share;
          sum += of_weight * of_values[value];
        }
        of_weights[one] = sum;
      }
    }
    if (!step.reads.empty()) {
      std::copy_n(of_weights, size, room.gradient.data() + kernel.places()[as_size(step.reads[0])]);
    }
  }

  [[gnu::always_inline]] void forward(std::int64_t index, const Lanes* here, Lanes* next) const {
    const auto& step = machine.steps()[as_size(index)];
    const auto width = this->width(index), next_width = this->width(index + 1);
    find_asked(step);
    const auto* const weights = weigh(step);
    for (std::int64_t state = 0; state < next_width; ++state) next[state] = Lanes{};
    for (const auto value : room.asked) {
      const auto& [groups, edges] = kernel.kinds()[as_size(step.kind)].into[as_size(value)];
      const Lanes admitted = room.admitted[as_size(value)];
      const auto* edge = edges.data();
      for (const auto& group : groups) {
        if (group.state >= next_width) break;
        const auto* const end = edges.data() + group.end;
        Lanes sum{};
        for (; edge != end && edge->state < width; ++edge) sum += here[edge->state] * weights[edge->combination];
        edge = end;
        next[group.state] += admitted * sum;
      }
    }
  }

  [[gnu::always_inline]] void backward(std::int64_t index, const Lanes* here, const Lanes* later, Lanes* before) const {
    const auto& step = machine.steps()[as_size(index)];
    const auto width = this->width(index);
    find_asked(step);
    const auto* const weights = weigh(step);
    auto* const of_weights = room.weight_gradient.data();
    for (std::int64_t c = 0; c < step.combinations; ++c) of_weights[c] = Lanes{};
    for (std::int64_t state = 0; state < width; ++state) before[state] = Lanes{};
    for (const auto value : room.asked) {
      const auto& [groups, edges] = kernel.kinds()[as_size(step.kind)].out_of[as_size(value)];
      const Lanes admitted = room.admitted[as_size(value)];
      const auto* edge = edges.data();
      for (const auto& group : groups) {
        if (group.state >= width) break;
        const auto* const end = edges.data() + group.end;
        const Lanes share = admitted * here[group.state];
        Lanes sum{};
        for (; edge != end; ++edge) {
          const Lanes message = later[edge->state];
          sum += weights[edge->combination] * message;
          of_weights[edge->combination] += share * message;
        }
        before[group.state] += admitted * sum;
      }
    }
    weigh_backward(step, of_weights);
  }
};

// From logarithms to probabilities that sum to one, in place.
ANESI_VECTORIZED void normalise(AutomatonKernel::Room& room, const std::vector<std::size_t>& places,
                                ScaledProduct& scale, Lanes& log_scale) {
  for (std::size_t variable = 0; variable + 1 < places.size(); ++variable) {
    auto* const first = room.beliefs.data() + places[variable];
    const auto size = static_cast<std::int64_t>(places[variable + 1] - places[variable]);
    Lanes largest = first[0];
    for (std::int64_t value = 1; value < size; ++value) largest = first[value] > largest ? first[value] : largest;
    log_scale += largest;
    const Lanes lowest = Lanes{} + std::numeric_limits<double>::lowest();
    largest = largest > lowest ? largest : lowest;
    Lanes sum{};
    for (std::int64_t value = 0; value < size; ++value) {
      Lanes share;
      exp_of(first[value] - largest, share);
      first[value] = share;
      sum += share;
    }
    const Lanes inverse = sum > 0 ? 1 / sum : Lanes{};
    for (std::int64_t value = 0; value < size; ++value) first[value] *= inverse;
    scale.multiply(sum);
  }
}

ANESI_VECTORIZED void run_forward(AutomatonMoves& moves, ScaledProduct& product) {
  auto* const first = moves.states(0);
  std::fill_n(first, moves.width(0), Lanes{});
  first[moves.machine.automaton().start()] = kOnes;
  filter_forward<Lanes>(moves);
  for (std::int64_t step = 0; step < moves.steps(); ++step) product.multiply(*moves.total(step));
}

ANESI_VECTORIZED void run_backward(AutomatonMoves& moves) {
  auto& room = moves.room;
  std::ranges::fill(room.first, kOnes);
  auto *after = room.first.data(), *before = room.second.data();
  filter_backward<Lanes>(moves, after, before);
  for (std::size_t place = 0; place < room.gradient.size(); ++place) room.gradient[place] *= room.beliefs[place];
}

}  // namespace

void AutomatonKernel::run(const AutomatonSteps& machine, const Query& rows, std::span<double> log_probs,
                          GradientRows gradient, std::span<bool> lost, Room& room) const {
  const auto& worlds = machine.worlds();
  for (std::int64_t lane = 0; lane < kLanes; ++lane) {
    const auto* values = rows.logs.row(std::min(lane, rows.size() - 1));
    auto* place = room.beliefs.data();
    for (const auto domain : worlds.domains()) {
      for (std::int64_t value = 0; value < domain; ++value) (*place++)[lane] = values[value];
      values += rows.logs.width;
    }
  }
  ScaledProduct product;
  Lanes log_scale{};
  normalise(room, places_, product, log_scale);
  ScaledProduct of_outputs;
  AutomatonMoves moves{machine, *this, rows, room};
  run_forward(moves, of_outputs);
  for (std::int64_t lane = 0; lane < rows.size(); ++lane) {
    const double log_prob = of_outputs.log(lane);
    log_probs[as_size(lane)] = log_prob + product.log(lane) + log_scale[lane];
    lost[as_size(lane)] = false;
    if (log_prob > kSurelyRight) continue;
    const AutomatonRow row{machine, rows.logs.row(lane), rows.logs.width, rows.outputs[lane]};
    lost[as_size(lane)] = row.has_tiny_weights() || std::ranges::any_of(room.states, [&](const Lanes& state) {
                            return state[lane] != 0 && state[lane] < kTinyShare;
                          });
  }
  if (gradient.empty()) return;
  run_backward(moves);
  for (std::int64_t lane = 0; lane < rows.size(); ++lane) {
    auto* values = gradient.row(lane);
    const auto* place = room.gradient.data();
    for (const auto domain : worlds.domains()) {
      for (std::int64_t value = 0; value < domain; ++value) values[value] = (*place++)[lane];
      values += gradient.width;
    }
  }
}

}  // namespace anesi
