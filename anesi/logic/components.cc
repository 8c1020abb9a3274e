#include "anesi/logic/components.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace anesi {

Components::Components(int variables, const Propagation& propagation)
    : propagation_(propagation),
      long_clauses_(static_cast<std::size_t>(variables) + 1),
      partners_(static_cast<std::size_t>(variables) + 1),
      variable_seen_(static_cast<std::size_t>(variables) + 1, 0),
      clause_seen_(static_cast<std::size_t>(propagation.clauses()), 0) {
  for (int index = 0; index < propagation.clauses(); ++index) {
    const auto clause = propagation.clause(index);
    for (const auto literal : clause) {
      const auto place = static_cast<std::size_t>(std::abs(literal));
      if (clause.size() > 2) {
        long_clauses_[place].push_back(index);
      } else {
        partners_[place].push_back(literal);
        partners_[place].push_back(literal == clause[0] ? clause[1] : clause[0]);
      }
    }
  }
}

Component Components::operator[](std::size_t index) const {
  const auto& [variables, clauses, end] = begins_[index];
  const std::span all(numbers_);
  return {all.subspan(variables, clauses - variables), all.subspan(clauses, end - clauses)};
}

bool Components::is_open(int clause) const {
  return std::ranges::none_of(propagation_.clause(clause), [&](int literal) { return propagation_.is_true(literal); });
}

void Components::visit(int variable) {
  auto& seen = variable_seen_[static_cast<std::size_t>(variable)];
  if (seen == round_ || !propagation_.is_open(variable)) return;
  seen = round_;
  variables_.push_back(variable);
}

// The component of a variable, which is not added if no clause names it: then it is free.
void Components::collect(int variable) {
  variables_.clear();
  clauses_.clear();
  visit(variable);
  for (std::size_t at = 0; at < variables_.size(); ++at) {
    const auto place = static_cast<std::size_t>(variables_[at]);
    for (std::size_t partner = 1; partner < partners_[place].size(); partner += 2) {
      visit(std::abs(partners_[place][partner]));
    }
    for (const auto clause : long_clauses_[place]) {
      auto& seen = clause_seen_[static_cast<std::size_t>(clause)];
      if (seen == round_) continue;
      seen = round_;
      if (!is_open(clause)) continue;
      clauses_.push_back(clause);
      for (const auto literal : propagation_.clause(clause)) visit(std::abs(literal));
    }
  }
  if (variables_.size() < 2) return;
  std::ranges::sort(variables_);
  std::ranges::sort(clauses_);
  const auto begin = numbers_.size();
  numbers_.insert(numbers_.end(), variables_.begin(), variables_.end());
  numbers_.insert(numbers_.end(), clauses_.begin(), clauses_.end());
  begins_.push_back({begin, begin + variables_.size(), numbers_.size()});
}

void Components::add_whole() {
  ++round_;
  for (int variable = 1; static_cast<std::size_t>(variable) < variable_seen_.size(); ++variable) {
    if (variable_seen_[static_cast<std::size_t>(variable)] != round_) collect(variable);
  }
}

void Components::add_rest_of(std::size_t component) {
  if (++round_ == 0) {
    std::ranges::fill(variable_seen_, 0);
    std::ranges::fill(clause_seen_, 0);
    round_ = 1;
  }
  const auto first = begins_.size();
  const auto [begin, end, clauses] = begins_[component];
  for (auto at = begin; at < end; ++at) {
    const auto variable = numbers_[at];  // collect() moves numbers_
    if (variable_seen_[static_cast<std::size_t>(variable)] != round_) collect(variable);
  }
  std::sort(begins_.begin() + static_cast<std::ptrdiff_t>(first), begins_.end(),
            [](const Begin& one, const Begin& other) {
              return one.clauses - one.variables < other.clauses - other.variables;
            });
}

void Components::remove_from(std::size_t first) {
  if (first >= begins_.size()) return;
  // They may lie in another order than that in which they were added.
  auto begin = begins_[first].variables;
  for (auto index = first; index < begins_.size(); ++index) begin = std::min(begin, begins_[index].variables);
  begins_.resize(first);
  numbers_.resize(begin);
}

void Components::count_occurrences(std::size_t component, std::vector<double>& counts,
                                   std::vector<int>& balance) const {
  const auto [variables, clauses] = (*this)[component];
  const auto count = [&](int literal, double weight) {
    counts[static_cast<std::size_t>(std::abs(literal))] += weight;
    balance[static_cast<std::size_t>(std::abs(literal))] += literal > 0 ? 1 : -1;
  };
  for (const auto variable : variables) {
    const auto& partners = partners_[static_cast<std::size_t>(variable)];
    for (std::size_t at = 0; at < partners.size(); at += 2) {
      if (propagation_.is_open(std::abs(partners[at + 1]))) count(partners[at], 2);
    }
  }
  for (const auto index : clauses) {
    for (const auto literal : propagation_.clause(index)) {
      if (propagation_.is_open(std::abs(literal))) count(literal, 1);
    }
  }
}

std::uint64_t ComponentCache::write_key(const Component& component) {
  key_.clear();
  std::uint64_t hash = 0x9E3779B97F4A7C15U;
  const auto put = [&](std::uint32_t number) {
    hash = (hash ^ number) * 0xD6E8FEB86659FD93U;
    hash ^= hash >> 32;
    for (; number >= 128; number >>= 7) key_.push_back(static_cast<std::uint8_t>(number | 128));
    key_.push_back(static_cast<std::uint8_t>(number));
  };
  const auto put_all = [&](std::span<const int> numbers) {
    put(static_cast<std::uint32_t>(numbers.size()));
    int before = 0;
    for (const auto number : numbers) put(static_cast<std::uint32_t>(number - std::exchange(before, number)));
  };
  put_all(component.variables);
  put_all(component.clauses);
  return hash;
}

CircuitBuilder::Part ComponentCache::find(const Component& component) {
  const auto hash = write_key(component);
  for (auto at = bucket(hash); at >= 0; at = entries_[static_cast<std::size_t>(at)].next) {
    const auto& entry = entries_[static_cast<std::size_t>(at)];
    if (entry.hash == hash && std::ranges::equal(std::span(keys_).subspan(entry.begin, entry.size), key_)) {
      return entry.part;
    }
  }
  return kUnknown;
}

void ComponentCache::add(const Component& component, CircuitBuilder::Part part) {
  const auto hash = write_key(component);
  if (keys_.size() + key_.size() + (entries_.size() + 1) * (sizeof(Entry) + 2 * sizeof(std::int64_t)) > most_bytes_) {
    ++generation_;
    entries_.clear();
    keys_.clear();
    std::ranges::fill(buckets_, -1);
  }
  if (entries_.size() >= buckets_.size()) grow();
  entries_.push_back({hash, keys_.size(), key_.size(), part, bucket(hash)});
  bucket(hash) = static_cast<std::int64_t>(entries_.size()) - 1;
  keys_.insert(keys_.end(), key_.begin(), key_.end());
}

void ComponentCache::grow() {
  buckets_.assign(2 * buckets_.size(), -1);
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    entries_[index].next = bucket(entries_[index].hash);
    bucket(entries_[index].hash) = static_cast<std::int64_t>(index);
  }
}

void ComponentCache::forget_since(Mark mark) {
  const auto kept = mark.generation == generation_ ? mark.entries : 0;
  while (entries_.size() > kept) {
    const auto& last = entries_.back();
    bucket(last.hash) = last.next;
    keys_.resize(last.begin);
    entries_.pop_back();
  }
}

}  // namespace anesi
