#include "anesi/discover/layered_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"

namespace anesi {
namespace {

constexpr std::int64_t kMostAnswers = 1 << 27;    // of one layer, kept at a time
constexpr std::int64_t kNumbersAtOnce = 1 << 19;  // of worlds that are asked about
constexpr double kFewCompletions = 32;            // all of them are asked about
constexpr std::size_t kMostEmissionsOrdered = 16;
constexpr std::ptrdiff_t kProbesOfALayer = 4;  // that another machine takes over
constexpr std::int64_t kLearnedOfALayer = 8;   // counterexamples, each time

// 128 bits: among a billion prefixes two that differ have the same with probability 1e-21.
struct Fingerprint {
  std::uint64_t low = 0x243f6a8885a308d3U, high = 0x13198a2e03707344U;

  void add(std::uint64_t value) {
    low = mixed(low ^ value) * 0x9e3779b97f4a7c15U;
    high = (mixed(high + value) ^ low) * 0xd1b54a32d192ed03U;
  }
  bool operator==(const Fingerprint&) const = default;

 private:
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 32U)) * 0xd6e8feb86659fd93U;
    return x ^ (x >> 29U);
  }
};

struct HashOfFingerprint {
  std::size_t operator()(const Fingerprint& print) const { return print.low; }
};

// Numbers things that are the same alike, in the order in which they first appear.
class Numbering {
 public:
  // The number, and whether it is new.
  std::pair<std::int32_t, bool> of(const Fingerprint& print) {
    const auto [place, fresh] = numbers_.try_emplace(print, static_cast<std::int32_t>(numbers_.size()));
    return {place->second, fresh};
  }
  std::int64_t size() const { return static_cast<std::int64_t>(numbers_.size()); }

 private:
  std::unordered_map<Fingerprint, std::int32_t, HashOfFingerprint> numbers_;
};

}  // namespace

// One step of the automaton that a layer becomes: the first reads its variable, others read nothing.
struct LayeredMachine::Emission {
  std::int64_t output = kNone;  // which is emitted
  Automaton::Table table;
};

LayeredMachine::LayeredMachine(Oracle& oracle, Points probes, Choose choose)
    : oracle_(&oracle),
      probes_(std::move(probes)),
      choose_(std::move(choose)),
      layer_probes_(as_size(oracle.worlds().variables())),
      emitted_(as_size(oracle.outputs().variables()), false) {}

std::int64_t LayeredMachine::width_after(std::size_t layers) const {
  return layers == 0 ? 1 : static_cast<std::int64_t>(layers_[layers - 1].parent.size());
}

std::int64_t LayeredMachine::width() const { return width_after(layers_.size()); }

std::int64_t LayeredMachine::widest() const {
  std::int64_t widest = 1;
  for (const auto& layer : layers_) widest = std::max(widest, layer.widest);
  return widest;
}

std::vector<std::int64_t> LayeredMachine::unread() const {
  std::vector<bool> read(as_size(oracle_->worlds().variables()), false);
  for (const auto& layer : layers_) read[as_size(layer.variable)] = true;
  std::vector<std::int64_t> rest;
  for (std::size_t variable = 0; variable < read.size(); ++variable) {
    if (!read[variable]) rest.push_back(static_cast<std::int64_t>(variable));
  }
  return rest;
}

std::vector<bool> LayeredMachine::open_outputs() const {
  auto open = emitted_;
  open.flip();
  return open;
}

bool LayeredMachine::grow(std::int64_t most_states) {
  while (as_size(oracle_->worlds().variables()) > layers_.size()) {
    if (order_.size() == layers_.size()) order_.push_back(choose_(*this));
    if (!add_layer(order_[layers_.size()], most_states)) return false;
  }
  return true;
}

// The completions that are asked about, as worlds without two that agree on the rest: all of them where they are few.
Points LayeredMachine::completions(std::size_t layer, const std::vector<std::int64_t>& rest) const {
  double points = 1;
  std::vector<std::int64_t> domains;
  for (const auto variable : rest) {
    domains.push_back(oracle_->worlds().domain(variable));
    points *= static_cast<double>(domains.back());
  }
  if (rest.empty()) return Points(probes_.rows().slice(0, 1));
  if (points <= kFewCompletions) {
    const auto values = all_points(Space(domains));
    Points worlds(values.size(), oracle_->worlds().variables());
    for (std::int64_t row = 0; row < values.size(); ++row) {
      for (std::size_t place = 0; place < rest.size(); ++place) worlds[row][as_size(rest[place])] = values[row][place];
    }
    return worlds;
  }
  std::vector<PointRows> all;
  for (const auto& world : layer_probes_[layer]) all.emplace_back(world.data(), 1, std::ssize(world));
  all.push_back(probes_);
  const auto worlds = joined(all);
  Numbering seen;
  std::vector<std::int64_t> kept;
  for (std::int64_t row = 0; row < worlds.size(); ++row) {
    Fingerprint print;
    for (const auto variable : rest) print.add(static_cast<std::uint64_t>(worlds[row][as_size(variable)]));
    if (seen.of(print).second) kept.push_back(row);
  }
  return rows_at(worlds, kept);
}

bool LayeredMachine::add_layer(std::int64_t variable, std::int64_t most_states) {
  const auto states = width(), domain = oracle_->worlds().domain(variable), candidates = states * domain;
  const auto variables = oracle_->worlds().variables(), outputs = oracle_->outputs().variables();
  auto rest = unread();
  std::erase(rest, variable);
  std::vector<std::int64_t> read;
  for (const auto& layer : layers_) read.push_back(layer.variable);
  const auto probes = completions(layers_.size(), rest);
  const auto asked = probes.size();
  std::vector<std::int64_t> open;
  for (std::int64_t output = 0; output < outputs; ++output) {
    if (!emitted_[as_size(output)]) open.push_back(output);
  }
  const auto size = static_cast<std::int64_t>(open.size());
  if (candidates * asked * size > kMostAnswers) return false;

  // What c says of every candidate, completed by every probe: [candidates, asked, open outputs].
  std::vector<std::int32_t> answers(as_size(candidates * asked * size));
  Points prefixes(states, variables);
  for (std::int64_t state = 0; state < states; ++state) write_prefix(layers_.size(), state, prefixes[state]);
  const auto step = std::max<std::int64_t>(1, kNumbersAtOnce / (asked * variables));
  Points worlds(std::min(step, candidates) * asked, variables);
  for (std::int64_t begin = 0; begin < candidates && size > 0; begin += step) {
    const auto count = std::min(step, candidates - begin);
    parallel_for(count, 16,
                 [&, to = worlds.rows(), from = std::as_const(prefixes).rows(), completions = probes.rows()](
                     std::int64_t first, std::int64_t last) {
                   for (auto index = first; index < last; ++index) {
                     const auto candidate = begin + index;
                     const auto* const prefix = from[candidate / domain].data();
                     for (std::int64_t probe = 0; probe < asked; ++probe) {
                       auto* const row = to[index * asked + probe].data();
                       const auto* const completion = completions[probe].data();
                       // What is more in one piece, the rest one by one.
                       const bool mostly_prefix = read.size() > rest.size();
                       std::copy_n(mostly_prefix ? prefix : completion, variables, row);
                       const auto* const other = mostly_prefix ? completion : prefix;
                       for (const auto place : mostly_prefix ? rest : read) row[place] = other[place];
                       row[variable] = candidate % domain;
                     }
                   }
                 });
    const auto given = oracle_->ask(worlds.rows().slice(0, count * asked));
    const auto* value = given.values().data();
    auto* answer = answers.data() + begin * asked * size;
    for (std::int64_t row = 0; row < count * asked; ++row, value += outputs) {
      for (const auto output : open) *answer++ = static_cast<std::int32_t>(value[output]);
    }
  }

  // An output is known where no completion changes it, whatever the candidate.
  std::vector<bool> known(open.size(), true);
  for (std::int64_t candidate = 0; candidate < candidates; ++candidate) {
    const auto* const first = answers.data() + candidate * asked * size;
    for (std::int64_t probe = 1; probe < asked; ++probe) {
      for (std::int64_t place = 0; place < size; ++place) {
        if (first[probe * size + place] != first[place]) known[as_size(place)] = false;
      }
    }
  }
  Layer layer;
  layer.variable = variable;
  std::vector<std::int64_t> emitted, left;  // places in `open`
  for (std::int64_t place = 0; place < size; ++place) (known[as_size(place)] ? emitted : left).push_back(place);

  Numbering after;
  layer.values.reserve(as_size(candidates) * emitted.size());
  for (std::int64_t candidate = 0; candidate < candidates; ++candidate) {
    const auto* const first = answers.data() + candidate * asked * size;
    Fingerprint print;
    for (std::int64_t probe = 0; probe < asked; ++probe) {
      for (const auto place : left) print.add(static_cast<std::uint64_t>(first[probe * size + place]));
    }
    const auto [state, fresh] = after.of(print);
    layer.next.push_back(state);
    if (fresh) {
      layer.parent.push_back(static_cast<std::int32_t>(candidate / domain));
      layer.value.push_back(static_cast<std::int32_t>(candidate % domain));
    }
    if (after.size() > most_states) return false;
  }
  // While outputs are emitted one by one, those still to be emitted are part of the state: those that leave the fewest
  // states come last.
  std::vector<std::int64_t> last_first;
  std::vector<std::int32_t> states_then = layer.next;
  layer.widest = after.size();
  while (!emitted.empty()) {
    std::optional<std::size_t> best;
    Numbering fewest;
    std::vector<std::int32_t> states_of_best;
    for (std::size_t place = 0; place < emitted.size(); ++place) {
      Numbering numbering;
      std::vector<std::int32_t> numbers(as_size(candidates));
      for (std::int64_t candidate = 0; candidate < candidates; ++candidate) {
        Fingerprint print;
        print.add(static_cast<std::uint64_t>(states_then[as_size(candidate)]));
        print.add(static_cast<std::uint64_t>(answers[as_size(candidate * asked * size + emitted[place])]));
        numbers[as_size(candidate)] = numbering.of(print).first;
      }
      if (!best || numbering.size() < fewest.size()) {
        best = place;
        fewest = std::move(numbering);
        states_of_best = std::move(numbers);
      }
      if (emitted.size() > kMostEmissionsOrdered) break;
    }
    last_first.push_back(emitted[*best]);
    emitted.erase(emitted.begin() + static_cast<std::ptrdiff_t>(*best));
    if (emitted.empty()) break;  // the first is emitted by the step that reads
    states_then = std::move(states_of_best);
    layer.widest = std::max(layer.widest, fewest.size());
    if (layer.widest > most_states) return false;
  }
  for (auto place = last_first.rbegin(); place != last_first.rend(); ++place)
    layer.emits.push_back(open[as_size(*place)]);
  for (std::int64_t candidate = 0; candidate < candidates; ++candidate) {
    for (auto place = last_first.rbegin(); place != last_first.rend(); ++place) {
      layer.values.push_back(answers[as_size(candidate * asked * size + *place)]);
    }
  }
  for (const auto output : layer.emits) emitted_[as_size(output)] = true;
  layers_.push_back(std::move(layer));
  return true;
}

void LayeredMachine::write_prefix(std::size_t layers, std::int64_t state, MutableValues world) const {
  for (auto index = layers; index-- > 0;) {
    world[as_size(layers_[index].variable)] = layers_[index].value[as_size(state)];
    state = layers_[index].parent[as_size(state)];
  }
}

void LayeredMachine::learn(PointRows wrong, PointRows outputs) {
  const auto count = wrong.size(), size = outputs.width();
  const auto layers = layers_.size();
  // The state after each layer, and the machine's own output.
  std::vector<std::vector<std::int64_t>> states(as_size(count), std::vector<std::int64_t>(layers + 1, 0));
  std::vector<std::size_t> emitted_by(as_size(size), layers + 1);  // layers after which an output is out
  Points said(count, size);
  for (std::size_t index = 0; index < layers; ++index) {
    for (const auto output : layers_[index].emits) emitted_by[as_size(output)] = index + 1;
  }
  for (std::int64_t row = 0; row < count; ++row) {
    for (std::size_t index = 0; index < layers; ++index) {
      const auto& layer = layers_[index];
      const auto candidate =
          states[as_size(row)][index] * oracle_->worlds().domain(layer.variable) + wrong[row][as_size(layer.variable)];
      for (std::size_t emission = 0; emission < layer.emits.size(); ++emission) {
        said[row][as_size(layer.emits[emission])] = layer.values[as_size(candidate) * layer.emits.size() + emission];
      }
      states[as_size(row)][index + 1] = layer.next[as_size(candidate)];
    }
  }
  // With the first k variables replaced by the prefix of the state they lead to, and the outputs emitted by then the
  // machine's, the answer is c's for k = 0 and the machine's when all are read: somewhere between it turns.
  std::vector<std::size_t> right(as_size(count), 0), turned(as_size(count), layers);
  while (true) {
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < count; ++row) {
      if (turned[as_size(row)] - right[as_size(row)] > 1) rows.push_back(row);
    }
    if (rows.empty()) break;
    auto worlds = rows_at(wrong, rows);
    for (std::size_t index = 0; index < rows.size(); ++index) {
      const auto row = as_size(rows[index]), middle = (right[row] + turned[row]) / 2;
      write_prefix(middle, states[row][middle], worlds[static_cast<std::int64_t>(index)]);
    }
    const auto answers = oracle_->ask(worlds);
    for (std::size_t index = 0; index < rows.size(); ++index) {
      const auto row = as_size(rows[index]), middle = (right[row] + turned[row]) / 2;
      const auto answer = answers[static_cast<std::int64_t>(index)], own = std::as_const(said)[rows[index]],
                 truth = outputs[rows[index]];
      bool same = true;
      for (std::size_t output = 0; output < emitted_by.size() && same; ++output) {
        same = (emitted_by[output] <= middle ? own[output] : answer[output]) == truth[output];
      }
      (same ? right : turned)[row] = middle;
    }
  }
  std::vector<std::int64_t> learned(layers, 0);
  auto first = layers;
  for (std::int64_t row = 0; row < count; ++row) {
    const auto layer = right[as_size(row)];
    if (learned[layer]++ >= kLearnedOfALayer) continue;
    layer_probes_[layer].emplace_back(wrong[row].begin(), wrong[row].end());
    first = std::min(first, layer);
  }
  layers_.resize(first);
  std::fill(emitted_.begin(), emitted_.end(), false);
  for (const auto& layer : layers_) {
    for (const auto output : layer.emits) emitted_[as_size(output)] = true;
  }
}

Points LayeredMachine::some_prefixes(std::int64_t most, Random& random) const {
  std::vector<std::int64_t> states(as_size(width()));
  std::iota(states.begin(), states.end(), 0);
  Points worlds(std::min(most, width()), oracle_->worlds().variables());
  for (std::int64_t row = 0; row < worlds.size(); ++row) {
    // The first of a shuffled list, which is shuffled no further than that.
    const auto place = as_size(row), other = place + random.below(states.size() - place);
    std::swap(states[place], states[other]);
    write_prefix(layers_.size(), states[place], worlds[row]);
  }
  return worlds;
}

Points LayeredMachine::recombined(PointRows worlds, Random& random) const {
  Points result(worlds);
  for (std::int64_t row = 0; row < result.size(); ++row) {
    const auto layers = random.below(layers_.size() + 1);
    const auto state = static_cast<std::int64_t>(random.below(as_size(width_after(layers))));
    write_prefix(layers, state, result[row]);
  }
  return result;
}

Points LayeredMachine::probes(std::int64_t most) const {
  std::vector<PointRows> all{probes_};
  for (const auto& own : layer_probes_) {
    for (auto probe = own.end() - std::min(std::ssize(own), kProbesOfALayer); probe != own.end(); ++probe) {
      all.emplace_back(probe->data(), 1, std::ssize(*probe));
    }
  }
  const auto worlds = joined(all);
  return Points(worlds.rows().slice(0, std::min(most, worlds.size())));
}

std::vector<LayeredMachine::Emission> LayeredMachine::emissions(const Layer& layer, std::int64_t states_before) const {
  const auto domain = oracle_->worlds().domain(layer.variable), candidates = states_before * domain;
  const auto emitted = static_cast<std::int64_t>(layer.emits.size());
  const auto after = static_cast<std::int64_t>(layer.parent.size());
  if (emitted == 0) {
    return {{kNone, {states_before, after, std::vector<std::int32_t>(as_size(candidates), 0), layer.next}}};
  }
  std::vector<Emission> steps(as_size(emitted));
  std::vector<std::int32_t> state(as_size(candidates));  // of each candidate, before the emission at hand
  std::iota(state.begin(), state.end(), 0);
  std::int64_t states = candidates;
  for (std::int64_t emission = 0; emission < emitted; ++emission) {
    Numbering numbering;
    auto& step = steps[as_size(emission)];
    step.output = layer.emits[as_size(emission)];
    step.table.emits.assign(as_size(states), 0);
    step.table.next.assign(as_size(states), 0);
    std::vector<std::int32_t> next(as_size(candidates));
    for (std::int64_t candidate = 0; candidate < candidates; ++candidate) {
      const auto* const values = layer.values.data() + candidate * emitted;
      Fingerprint print;
      print.add(static_cast<std::uint64_t>(layer.next[as_size(candidate)]));
      for (auto later = emission + 1; later < emitted; ++later) print.add(static_cast<std::uint64_t>(values[later]));
      // After the last emission the layer's own numbers hold; they too are in the order of first appearance.
      next[as_size(candidate)] = emission + 1 == emitted ? layer.next[as_size(candidate)] : numbering.of(print).first;
      step.table.emits[as_size(state[as_size(candidate)])] = values[emission];
      step.table.next[as_size(state[as_size(candidate)])] = next[as_size(candidate)];
    }
    step.table.states = emission == 0 ? states_before : states;
    step.table.next_states = emission + 1 == emitted ? after : numbering.size();
    states = step.table.next_states;
    state = std::move(next);
  }
  return steps;
}

namespace {

// Whether all that the first table says the second says too: it has the same rows, and perhaps more.
bool is_part_of(const Automaton::Table& part, const Automaton::Table& whole) {
  return part.states <= whole.states && part.next_states <= whole.next_states &&
         std::equal(part.emits.begin(), part.emits.end(), whole.emits.begin()) &&
         std::equal(part.next.begin(), part.next.end(), whole.next.begin());
}

}  // namespace

Automaton LayeredMachine::automaton() const {
  std::vector<ReadingStep> steps;
  std::vector<Automaton::Table> tables;
  std::vector<std::pair<std::int64_t, std::int64_t>> shapes;  // what a kind reads and emits: domains, 0 where nothing
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    const auto& layer = layers_[index];
    bool first = true;
    for (auto& [output, table] : emissions(layer, width_after(index))) {
      ReadingStep step;
      if (first) step.reads = {layer.variable};
      if (output != kNone) step.emits = output;
      const std::pair shape(first ? oracle_->worlds().domain(layer.variable) : 0,
                            output == kNone ? 0 : oracle_->outputs().domain(output));
      first = false;
      std::size_t kind = 0;
      for (; kind < tables.size(); ++kind) {
        if (shapes[kind] != shape) continue;
        if (is_part_of(table, tables[kind])) break;
        if (is_part_of(tables[kind], table)) {
          tables[kind] = std::move(table);
          break;
        }
      }
      if (kind == tables.size()) {
        tables.push_back(std::move(table));
        shapes.push_back(shape);
      }
      step.kind = static_cast<std::int64_t>(kind);
      steps.push_back(std::move(step));
    }
  }
  return {ReadingOrder(oracle_->worlds(), oracle_->outputs(), std::move(steps)), std::move(tables)};
}

}  // namespace anesi
