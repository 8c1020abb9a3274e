// A function said as a machine with a finite memory.
//
// A reading order says in which pieces the world is read; an automaton also says what is remembered between them and
// what each piece emits. Addition remembers a carry: two states. That is all the knowledge there is, so exact inference
// (automaton_inference.h) and an exact pruner (pruners/automaton_pruner.h), both linear in the length, follow from it.
// The transducer is the same machine with a table that was learned.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <vector>

#include "anesi/models/reading_order.h"

namespace anesi {

// A fact.
class Automaton {
 public:
  struct Move {
    std::int64_t emits;  // 0 where the step emits nothing
    std::int64_t next;   // state
  };
  // What a step of this kind does when it reads these values in this state.
  using Rule = std::function<Move(std::int64_t kind, Values read, std::int64_t state)>;

  // Asks the rule about every kind, combination and state. Throws Error where a move leads outside.
  Automaton(ReadingOrder reading, std::int64_t states, std::int64_t start, const Rule& rule);

  const ReadingOrder& reading() const { return reading_; }
  std::int64_t states() const { return states_; }
  std::int64_t start() const { return start_; }

  // Combinations count the values read, the last variable running fastest.
  const Move& move(std::int64_t kind, std::int64_t combination, std::int64_t state) const {
    return moves_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(combination * states_ + state)];
  }

  // The moves of a kind as a table of zeros and ones, double [emitted, combinations, states, next states].
  torch::Tensor table(std::int64_t kind) const;

 private:
  ReadingOrder reading_;
  std::int64_t states_, start_;
  std::vector<std::vector<Move>> moves_;  // one a kind, [combinations, states]
};

}  // namespace anesi
