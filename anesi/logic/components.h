// Parts of a formula that share no open variable, and what was found of them before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "anesi/logic/circuit_builder.h"
#include "anesi/logic/propagation.h"

namespace anesi {

// Open variables, and the clauses of three literals or more that are not yet true and name some of them; those of two
// go without saying. Both in order.
struct Component {
  std::span<const int> variables, clauses;
};

// Takes what is open apart. Components lie on a stack: whoever adds some, removes them again.
class Components {
 public:
  Components(int variables, const Propagation& propagation);

  std::size_t size() const { return begins_.size(); }
  // Spans are good until components are added or removed.
  Component operator[](std::size_t index) const;
  void add_whole();
  // Adds what is left of a component by now, smallest first.
  void add_rest_of(std::size_t component);
  void remove_from(std::size_t first);

  // In how many open clauses of a component each of its variables is: adds it to counts[variable], and to
  // balance[variable] the clauses where it is positive less those where it is negative.
  void count_occurrences(std::size_t component, std::vector<double>& counts, std::vector<int>& balance) const;

 private:
  struct Begin {
    std::size_t variables, clauses, end;  // in numbers_
  };
  bool is_open(int clause) const;
  void visit(int variable);
  void collect(int variable);

  const Propagation& propagation_;
  std::vector<std::vector<int>> long_clauses_;  // [variable]
  std::vector<std::vector<int>> partners_;      // [variable]: literal of it, then the other one, for each short clause
  std::vector<int> numbers_;
  std::vector<Begin> begins_;
  std::vector<std::uint32_t> variable_seen_, clause_seen_;
  std::uint32_t round_ = 0;
  std::vector<int> variables_, clauses_;  // of the component that is being collected
};

// The parts that were made of components. Forgets everything when it has grown too large.
class ComponentCache {
 public:
  static constexpr CircuitBuilder::Part kUnknown = -3;
  struct Mark {
    std::size_t entries, generation;
  };

  explicit ComponentCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  CircuitBuilder::Part find(const Component& component);
  void add(const Component& component, CircuitBuilder::Part part);

  Mark mark() const { return {entries_.size(), generation_}; }
  // Forgets what was added since.
  void forget_since(Mark mark);

 private:
  struct Entry {
    std::uint64_t hash;
    std::size_t begin, size;  // in keys_
    CircuitBuilder::Part part;
    std::int64_t next;  // with the same bucket, -1: none
  };
  std::uint64_t write_key(const Component& component);
  std::int64_t& bucket(std::uint64_t hash) { return buckets_[hash & (buckets_.size() - 1)]; }
  void grow();

  std::size_t most_bytes_, generation_ = 0;
  std::vector<std::uint8_t> key_, keys_;  // numbers as differences, seven bits a byte
  std::vector<Entry> entries_;            // the newest in a bucket comes first
  std::vector<std::int64_t> buckets_ = std::vector<std::int64_t>(1024, -1);
};

}  // namespace anesi
