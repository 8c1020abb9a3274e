// Making circuits of parts: what compilers, readers of files and tasks that know their circuit use.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "anesi/logic/circuit.h"

namespace anesi {

// Puts a circuit together from parts to whole. Parts need not be over the same variables: build() sees to that.
class CircuitBuilder {
 public:
  using Part = std::int32_t;
  static constexpr Part kFalse = -2, kTrue = -1;

  explicit CircuitBuilder(int variables);

  // Throws Error where there is no such variable.
  Part literal(int literal);
  // Throws Error where two parts share a variable. This and sum() throw Error where the circuit becomes too large.
  Part product(std::vector<Part> parts);
  // At most one part may be true at once, which is the caller's to know.
  Part sum(std::vector<Part> parts);

  std::int64_t nodes() const { return static_cast<std::int64_t>(nodes_.size()); }

  // The circuit of that part, over all variables. Throws Error where it would be too large.
  Circuit build(Part top) const;

 private:
  struct Node {
    Circuit::Kind kind;
    int literal;
    std::vector<Part> parts;
    std::size_t begin, first, words;  // of its variables: see variables_of
  };
  // A set of variables, as bits: bit b of word w is the variable at place 64 (first + w) + b in order_. Variables that
  // are named together are near each other there, so that most sets are a few words.
  struct Variables {
    std::size_t first;
    std::span<const std::uint64_t> words;
    std::uint64_t at(std::size_t word) const {
      return word >= first && word < first + words.size() ? words[word - first] : 0;
    }
  };
  Variables variables_of(Part part) const;
  Part add(Circuit::Kind kind, int literal, std::vector<Part> parts);

  int variables_;
  std::vector<int> order_;           // of the variables as they were first named
  std::vector<std::int32_t> place_;  // [variable]: in order_, or -1
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> bits_;  // of all nodes' variables
  std::size_t comparisons_ = 0;      // of words so far
  std::map<int, Part> literals_;
};

}  // namespace anesi
