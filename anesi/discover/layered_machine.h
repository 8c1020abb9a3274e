// A machine that is being found, one layer for each world variable that is read.
//
// A state is a class of prefixes (values of the variables read so far) that no probe tells apart; a probe is a
// completion, values of the variables that are still to be read. An output is emitted as soon as every prefix decides
// it whatever comes, and does not count in telling prefixes apart any more: once a digit of a sum is out, only the
// carry is left. Where the machine and c differ on a world, that world is cut to the one completion that tells two
// prefixes of one layer apart, which becomes a probe of that layer (as Rivest and Schapire cut counterexamples).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "anesi/discover/oracle.h"
#include "anesi/exact/automaton.h"

namespace anesi {

class LayeredMachine {
 public:
  // The variable to read next.
  using Choose = std::function<std::int64_t(const LayeredMachine&)>;

  // Probes are worlds; the oracle outlives the machine.
  LayeredMachine(Oracle& oracle, Points probes, Choose choose);

  // Reads on until every variable is read. False where a layer has more states than that; with room for more it goes on
  // where it was. What the oracle throws leaves the machine as it was before the layer.
  bool grow(std::int64_t most_states);
  bool whole() const {
    return static_cast<std::int64_t>(order_.size()) == oracle_->worlds().variables() && reached() == order_.size();
  }

  // Learns from worlds on which the whole machine is wrong, and drops the layers that change: grow it again.
  void learn(PointRows worlds, PointRows outputs);

  const std::vector<std::int64_t>& order() const { return order_; }  // of the variables chosen so far
  std::size_t reached() const { return layers_.size(); }             // how many of them are read
  std::int64_t width() const;                                        // of the layer reached
  std::int64_t widest() const;
  std::vector<std::int64_t> unread() const;
  std::vector<bool> open_outputs() const;  // which are not emitted yet
  // Prefixes of some states of the layer reached, at most so many, as worlds whose unread variables are zero.
  Points some_prefixes(std::int64_t most, Random& random) const;
  // A state's prefix, chosen at random from all layers, completed by each of these worlds: what tests every state
  // alike, however unlikely it is.
  Points recombined(PointRows worlds, Random& random) const;

  // Of the whole machine. Layers that do the same are steps of one kind.
  Automaton automaton() const;
  // Worlds that are probes of some layer, those of all layers and then the latest learned, at most so many.
  Points probes(std::int64_t most) const;

 private:
  struct Layer {
    std::int64_t variable = 0;
    std::vector<std::int64_t> emits;   // outputs that are known after it
    std::vector<std::int32_t> values;  // [states before, values of the variable, emits]
    std::vector<std::int32_t> next;    // [states before, values of the variable] -> state after
    std::vector<std::int32_t> parent,
        value;                // of each state after: its prefix is that of its parent and then the value
    std::int64_t widest = 1;  // states on the way, while several outputs are emitted
  };
  struct Emission;

  std::int64_t width_after(std::size_t layers) const;
  Points completions(std::size_t layer, const std::vector<std::int64_t>& rest) const;
  bool add_layer(std::int64_t variable, std::int64_t most_states);
  void write_prefix(std::size_t layers, std::int64_t state, MutableValues world) const;
  // The steps of the automaton that a layer becomes.
  std::vector<Emission> emissions(const Layer& layer, std::int64_t states_before) const;

  Oracle* oracle_;
  Points probes_;
  Choose choose_;
  std::vector<std::int64_t> order_;
  std::vector<Layer> layers_;
  std::vector<std::vector<std::vector<std::int64_t>>> layer_probes_;  // worlds, one list a layer
  std::vector<bool> emitted_;
};

}  // namespace anesi
