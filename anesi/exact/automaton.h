// A function said as a machine with a finite memory.
//
// A reading order says in which pieces the world is read; an automaton also says what is remembered between them and
// what each piece emits. Addition remembers a carry: two states. That is all the knowledge there is, so exact inference
// (automaton_backend.h) and an exact pruner (search/automaton_pruner.h), both linear in the length, follow from it.
// The transducer is the same machine with a table that was learned; discover/ finds the machine of a function that
// nobody described.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "anesi/core/reading_order.h"

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

  // What steps of one kind do. Combinations count the values read, the last variable running fastest.
  struct Table {
    std::int64_t states, next_states;       // before and after the step
    std::vector<std::int32_t> emits, next;  // [states, combinations]
  };

  // The same states before and after every step. Asks the rule about every kind, combination and state. Throws Error
  // where a move leads outside.
  Automaton(ReadingOrder reading, std::int64_t states, std::int64_t start, const Rule& rule);
  // A memory that grows and shrinks from step to step: one table a kind. Throws Error where a table has another size
  // than its kind, a move leads outside, or a step leads to a state that the next one does not know.
  Automaton(ReadingOrder reading, std::vector<Table> tables, std::int64_t start = 0);

  const ReadingOrder& reading() const { return reading_; }
  std::int64_t start() const { return start_; }
  std::int64_t states() const { return states_; }  // the most that are known at any time
  // Before each step, and after the last one: only states below this can be reached.
  const std::vector<std::int64_t>& widths() const { return widths_; }

  const Table& table(std::int64_t kind) const { return tables_[static_cast<std::size_t>(kind)]; }
  Move move(std::int64_t kind, std::int64_t combination, std::int64_t state) const;

  // What the machine makes of each world.
  Points run(PointRows worlds) const;

 private:
  void check_tables() const;
  void find_widths();

  ReadingOrder reading_;
  std::vector<Table> tables_;
  std::int64_t start_, states_ = 1;
  std::vector<std::int64_t> widths_;
};

}  // namespace anesi
