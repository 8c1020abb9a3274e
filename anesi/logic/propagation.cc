#include "anesi/logic/propagation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "anesi/core/error.h"

namespace anesi {
namespace {

constexpr std::size_t kMostLearnedClauses = 4000;
constexpr double kActivityGrowth = 1.05, kLargestActivity = 1e100;

// Each literal once, by variable. False if the clause always holds.
bool tidy(std::vector<int>& clause) {
  std::ranges::sort(clause, {}, [](int literal) { return std::pair(std::abs(literal), literal); });
  clause.erase(std::ranges::unique(clause).begin(), clause.end());
  return std::ranges::adjacent_find(clause, [](int one, int other) { return one == -other; }) == clause.end();
}

}  // namespace

Propagation::Propagation(int variables, const std::vector<std::vector<int>>& clauses) {
  const auto places = static_cast<std::size_t>(variables) + 1;
  watches_.resize(2 * places);
  values_.resize(2 * places, 0);
  reason_.resize(places, kNone);
  level_.resize(places, 0);
  activity_.resize(places, 0);
  seen_.resize(places, 0);
  std::vector<int> units;
  std::vector<std::vector<int>> all;
  for (auto clause : clauses) {
    for (const auto literal : clause) {
      if (literal == 0 || std::abs(std::int64_t{literal}) > variables) {
        throw Error(fmt::format("circuit: there is no literal {} among {} variables", literal, variables));
      }
    }
    if (!tidy(clause)) continue;
    if (clause.empty()) consistent_ = false;
    if (clause.size() == 1) units.push_back(clause[0]);
    if (clause.size() > 1) all.push_back(std::move(clause));
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  for (const auto& clause : all) add(clause);
  clauses_of_formula_ = static_cast<int>(clauses_.size());
  literals_of_formula_ = literals_.size();
  most_learned_ = std::max(kMostLearnedClauses, clauses_.size());
  for (const auto unit : units) {
    if (is_false(unit)) consistent_ = false;
    if (is_open(std::abs(unit))) assign(unit, kNone);
  }
  consistent_ = consistent_ && propagate() == kNone;
}

int Propagation::add(std::span<const int> literals) {
  clauses_.push_back({literals_.size(), literals.size()});
  literals_.insert(literals_.end(), literals.begin(), literals.end());
  const auto index = static_cast<int>(clauses_.size()) - 1;
  if (literals.size() > 1) watch(index);
  return index;
}

void Propagation::watch(int index) {
  const auto literals = clause(index);
  watches_[place(literals[0])].push_back({index, literals[1]});
  watches_[place(literals[1])].push_back({index, literals[0]});
}

void Propagation::assign(int literal, int reason) {
  values_[place(literal)] = 1;
  values_[place(-literal)] = -1;
  const auto variable = static_cast<std::size_t>(std::abs(literal));
  reason_[variable] = reason;
  level_[variable] = static_cast<int>(levels_.size());
  trail_.push_back(literal);
}

int Propagation::propagate() {
  while (next_ < trail_.size()) {
    const auto now_false = -trail_[next_++];
    auto& watches = watches_[place(now_false)];
    std::size_t kept = 0;
    for (std::size_t at = 0; at < watches.size(); ++at) {
      const auto watched = watches[at];
      if (is_true(watched.other)) {
        watches[kept++] = watched;
        continue;
      }
      const auto literals = literals_of(watched.clause);
      if (literals[0] == now_false) std::swap(literals[0], literals[1]);
      const auto first = literals[0];
      std::size_t other = 2;
      if (!is_true(first)) {
        while (other < literals.size() && is_false(literals[other])) ++other;
        if (other < literals.size()) {
          std::swap(literals[1], literals[other]);
          watches_[place(literals[1])].push_back({watched.clause, first});
          continue;
        }
      }
      watches[kept++] = {watched.clause, first};
      if (is_true(first)) continue;
      if (is_false(first)) {
        kept = static_cast<std::size_t>(std::copy(watches.begin() + static_cast<std::ptrdiff_t>(at) + 1, watches.end(),
                                                  watches.begin() + static_cast<std::ptrdiff_t>(kept)) -
                                        watches.begin());
        watches.resize(kept);
        return watched.clause;
      }
      assign(first, watched.clause);
    }
    watches.resize(kept);
  }
  return kNone;
}

bool Propagation::decide(int literal) {
  if (clauses_.size() - static_cast<std::size_t>(clauses_of_formula_) > most_learned_) forget_some();
  levels_.push_back(trail_.size());
  assign(literal, kNone);
  auto conflict = assign_what_is_learned();
  if (conflict == kNone) conflict = propagate();
  if (conflict == kNone) return true;
  learn(conflict);
  return false;
}

void Propagation::take_back() {
  for (auto at = levels_.back(); at < trail_.size(); ++at) {
    values_[place(trail_[at])] = values_[place(-trail_[at])] = 0;
  }
  trail_.resize(levels_.back());
  levels_.pop_back();
  next_ = trail_.size();
}

// What was learned when the last decision was taken back may be unit now, and nothing has looked at it.
int Propagation::assign_what_is_learned() {
  for (const auto unit : units_) {
    const auto literal = clause(unit)[0];
    if (is_false(literal)) return unit;
    if (!is_true(literal)) assign(literal, unit);
  }
  const auto pending = std::exchange(pending_, kNone);
  if (pending == kNone) return kNone;
  const auto literals = clause(pending);
  if (is_open(std::abs(literals[0])) &&
      std::ranges::all_of(literals.subspan(1), [&](int literal) { return is_false(literal); })) {
    assign(literals[0], pending);
  }
  return kNone;
}

void Propagation::take_part(int variable) {
  auto& activity = activity_[static_cast<std::size_t>(variable)];
  activity += bump_;
  if (activity < kLargestActivity) return;
  for (auto& each : activity_) each /= kLargestActivity;
  bump_ /= kLargestActivity;
}

// Whether the other literals of a clause that is learned imply its negation.
bool Propagation::is_redundant(int literal) const {
  const auto reason = reason_[static_cast<std::size_t>(std::abs(literal))];
  return reason != kNone && std::ranges::all_of(clause(reason), [&](int other) {
           const auto variable = static_cast<std::size_t>(std::abs(other));
           return other == -literal || seen_[variable] != 0 || level_[variable] == 0;
         });
}

// Resolves back to the first literal of the last level that alone, with those of earlier ones, leads to the conflict.
void Propagation::learn(int conflict) {
  learned_.assign(1, 0);
  seen_variables_.clear();
  const auto level = static_cast<int>(levels_.size());
  auto at = trail_.size();
  int open = 0, literal = 0, reason = conflict;
  do {
    for (const auto other : clause(reason)) {
      const auto variable = static_cast<std::size_t>(std::abs(other));
      if (other == literal || seen_[variable] != 0 || level_[variable] == 0) continue;
      seen_[variable] = 1;
      seen_variables_.push_back(std::abs(other));
      take_part(std::abs(other));
      if (level_[variable] == level) {
        ++open;
      } else {
        learned_.push_back(other);
      }
    }
    do --at;
    while (seen_[static_cast<std::size_t>(std::abs(trail_[at]))] == 0 ||
           level_[static_cast<std::size_t>(std::abs(trail_[at]))] != level);
    literal = trail_[at];
    reason = reason_[static_cast<std::size_t>(std::abs(literal))];
    --open;
  } while (open > 0);
  learned_[0] = -literal;
  bump_ *= kActivityGrowth;
  learned_.erase(std::remove_if(learned_.begin() + 1, learned_.end(), [&](int other) { return is_redundant(other); }),
                 learned_.end());
  for (const auto variable : seen_variables_) seen_[static_cast<std::size_t>(variable)] = 0;
  if (learned_.size() == 1) {
    units_.push_back(add(learned_));
    return;
  }
  // The last to become false is watched, so that it is the first to be open again.
  const auto last = std::ranges::max_element(learned_.begin() + 1, learned_.end(), {}, [&](int other) {
    return level_[static_cast<std::size_t>(std::abs(other))];
  });
  std::swap(learned_[1], *last);
  pending_ = add(learned_);
}

// Keeps learned clauses that are short, the newest, and those that something was implied by.
void Propagation::forget_some() {
  const auto first = static_cast<std::size_t>(clauses_of_formula_);
  std::vector<int> renamed(clauses_.size(), kNone);
  for (std::size_t index = 0; index < first; ++index) renamed[index] = static_cast<int>(index);
  std::vector<char> keep(clauses_.size(), 0);
  for (const auto literal : trail_) {
    if (const auto reason = reason_[static_cast<std::size_t>(std::abs(literal))]; reason != kNone) {
      keep[static_cast<std::size_t>(reason)] = 1;
    }
  }
  if (pending_ != kNone) keep[static_cast<std::size_t>(pending_)] = 1;
  const auto newest = clauses_.size() - (clauses_.size() - first) / 4;
  std::vector<std::size_t> sizes;
  for (auto index = first; index < newest; ++index) sizes.push_back(clauses_[index].size);
  std::ranges::nth_element(sizes, sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 3));
  const auto short_enough = std::max<std::size_t>(2, sizes[sizes.size() / 3]);
  auto next = first, end = literals_of_formula_;
  std::size_t kept_by_length = 0;
  for (auto index = first; index < clauses_.size(); ++index) {
    const auto [begin, size] = clauses_[index];
    const bool is_short = size == 1 || (size <= short_enough && kept_by_length++ < sizes.size() / 3);
    if (keep[index] == 0 && index < newest && !is_short) continue;
    std::copy_n(literals_.begin() + static_cast<std::ptrdiff_t>(begin), size,
                literals_.begin() + static_cast<std::ptrdiff_t>(end));
    renamed[index] = static_cast<int>(next);
    clauses_[next++] = {end, size};
    end += size;
  }
  clauses_.resize(next);
  literals_.resize(end);
  for (auto& watches : watches_) {
    std::size_t kept = 0;
    for (const auto& [clause, other] : watches) {
      const auto name = renamed[static_cast<std::size_t>(clause)];
      if (name != kNone) watches[kept++] = {name, other};
    }
    watches.resize(kept);
  }
  for (const auto literal : trail_) {
    auto& reason = reason_[static_cast<std::size_t>(std::abs(literal))];
    if (reason != kNone) reason = renamed[static_cast<std::size_t>(reason)];
  }
  if (pending_ != kNone) pending_ = renamed[static_cast<std::size_t>(pending_)];
  for (auto& unit : units_) unit = renamed[static_cast<std::size_t>(unit)];
  // What is kept although it need not be must not fill the space for ever.
  most_learned_ = std::max(most_learned_, 2 * (clauses_.size() - first));
}

}  // namespace anesi
