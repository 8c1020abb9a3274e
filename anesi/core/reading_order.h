// In which order world variables are read before each output variable is known.
//
// Many functions can be computed by reading the world piece by piece with a small memory: addition reads two digits,
// writes one and keeps a carry. A reading order says which pieces, in which order; it does not say what to remember.
// The models `transducer` and `scan` learn that. Steps of the same kind share their weights, so a model that was
// trained on short problems also serves long ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "anesi/core/problem.h"
#include "anesi/core/space.h"

namespace anesi {

struct ReadingStep {
  std::vector<std::int64_t> reads;    // world variables, each read once in the whole order
  std::optional<std::int64_t> emits;  // the output variable that is known after this step
  std::int64_t kind = 0;              // steps of one kind share weights; they agree in domains read and emitted
};

// A fact: buys the transducer its bounded memory, and with it near-exact inference in seconds.
class ReadingOrder {
 public:
  // Throws Error where a world is read twice or not at all, an output is emitted twice or not at all, or two steps of
  // one kind differ in shape.
  ReadingOrder(const Space& worlds, const Space& outputs, std::vector<ReadingStep> steps);

  // Every world variable in turn, then every output variable: right for any function, if the memory suffices.
  static ReadingOrder all_then_emit(const Space& worlds, const Space& outputs);

  const std::vector<ReadingStep>& steps() const { return steps_; }
  std::int64_t kinds() const { return static_cast<std::int64_t>(kinds_.size()); }

  // What the steps of a kind have in common.
  struct Kind {
    std::vector<std::int64_t> read_domains;
    std::int64_t emit_domain = 1;  // 1 where nothing is emitted

    std::int64_t combinations() const;  // of the values read
    bool operator==(const Kind&) const = default;
  };
  const Kind& kind(std::int64_t index) const { return kinds_[static_cast<std::size_t>(index)]; }

  // "" where it reads and emits the variables of these spaces, else what is wrong.
  std::string complaint(const Space& worlds, const Space& outputs) const;

  // The output variables in the order in which they are emitted, the world variables in that in which they are read.
  const std::vector<std::int64_t>& emitted() const { return emitted_; }
  std::vector<std::int64_t> read() const;

 private:
  std::vector<ReadingStep> steps_;
  std::vector<Kind> kinds_;
  std::vector<std::int64_t> emitted_;
};

// The problem's or, where it tells none, all worlds before all outputs.
ReadingOrder reading_order_of(const Problem& problem);

}  // namespace anesi
