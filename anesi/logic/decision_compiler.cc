#include "anesi/logic/decision_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "anesi/core/error.h"
#include "anesi/core/interrupt.h"
#include "anesi/logic/circuit_builder.h"
#include "anesi/logic/components.h"
#include "anesi/logic/elimination_order.h"
#include "anesi/logic/propagation.h"
#include "anesi/logic/thread_time.h"

namespace anesi {
namespace {

using Part = CircuitBuilder::Part;
using Factors = std::vector<Part>;

constexpr std::int64_t kDecisionsBetweenLooks = 64;  // at the clock

class DecisionCompiler {
 public:
  DecisionCompiler(int variables, const std::vector<std::vector<int>>& clauses, const std::vector<int>& hidden,
                   const CompilerLimits& limits)
      : variables_(variables),
        limits_(limits),
        deadline_(thread_seconds() + limits.seconds),
        builder_(variables),
        propagation_(variables, clauses),
        components_(variables, propagation_),
        cache_(limits.cache_bytes),
        hidden_(static_cast<std::size_t>(variables) + 1, false),
        counts_(static_cast<std::size_t>(variables) + 1, 0),
        balance_(static_cast<std::size_t>(variables) + 1, 0) {
    for (const auto variable : hidden) hidden_[static_cast<std::size_t>(variable)] = true;
    order_ = elimination_order(variables, clauses, hidden_);
  }

  Circuit run() {
    if (!propagation_.consistent()) return builder_.build(CircuitBuilder::kFalse);
    Factors factors;
    for (int variable = 1; variable <= variables_; ++variable) {
      const bool is_hidden = hidden_[static_cast<std::size_t>(variable)];
      if (is_hidden || !propagation_.is_open(variable)) {
        factors.push_back(builder_.literal(!is_hidden && propagation_.is_true(variable) ? variable : -variable));
      }
    }
    components_.add_whole();
    frames_.push_back({.branches = 1, .factors = std::move(factors), .first = 0, .next = 0});
    while (true) {
      auto& frame = frames_.back();
      if (frame.branches > 0 && !frame.closed) {
        go_on(frame);
      } else if (frame.variable == 0) {
        return builder_.build(frame.results[0]);
      } else if (frame.branches < 2 && !(frame.is_hidden && frame.results[0] == CircuitBuilder::kTrue)) {
        begin_branch(frame);
      } else {
        finish(frame);
      }
    }
  }

 private:
  // A component of which both values of a variable are tried. The first frame is the formula's, and decides nothing.
  struct Frame {
    std::size_t component = 0;
    int literal = 0, variable = 0;  // that is decided, first as the literal says
    bool is_hidden = false;         // it has no variables that are not: any model will do
    int branches = 0;               // begun so far
    bool closed = false;            // the last of them
    Factors factors = {};           // of that branch, as far as they are known
    std::size_t first = 0, next = 0;  // of its components; the next to be compiled
    ComponentCache::Mark mark = {};   // of the cache before them
    Part results[2] = {CircuitBuilder::kFalse, CircuitBuilder::kFalse};
    Factors first_factors = {};
  };

  void begin_branch(Frame& frame) {
    look_at_clock();
    const auto literal = frame.branches++ == 0 ? frame.literal : -frame.literal;
    frame.closed = false;
    frame.factors.clear();
    if (!propagation_.decide(literal)) {
      propagation_.take_back();
      frame.closed = true;
      return;
    }
    for (const auto variable : components_[frame.component].variables) {
      if (propagation_.is_open(variable) || hidden_[static_cast<std::size_t>(variable)]) continue;
      frame.factors.push_back(builder_.literal(propagation_.is_true(variable) ? variable : -variable));
    }
    frame.first = frame.next = components_.size();
    frame.mark = cache_.mark();
    components_.add_rest_of(frame.component);
  }

  // The next component of a branch.
  void go_on(Frame& frame) {
    if (frame.next == components_.size()) return close(frame, true);
    const auto part = cache_.find(components_[frame.next]);
    if (part != ComponentCache::kUnknown) return take(frame, part);
    Frame next{.component = frame.next};
    choose(next);
    frames_.push_back(std::move(next));
  }

  void take(Frame& frame, Part part) {
    ++frame.next;
    if (part == CircuitBuilder::kFalse) return close(frame, false);
    if (part != CircuitBuilder::kTrue) frame.factors.push_back(part);
  }

  void close(Frame& frame, bool holds) {
    // What was found of other components may be due to clauses that were learned of one that has no model.
    if (!holds && components_.size() - frame.first > 1) cache_.forget_since(frame.mark);
    components_.remove_from(frame.first);
    if (frame.variable != 0) propagation_.take_back();
    frame.closed = true;
    if (!holds) return;
    std::ranges::sort(frame.factors);
    if (frame.branches == 1) frame.first_factors = frame.factors;
    frame.results[frame.branches - 1] = frame.variable == 0 ? product(frame.factors) : CircuitBuilder::kTrue;
  }

  // Both branches are there.
  void finish(Frame& frame) {
    auto part = CircuitBuilder::kFalse;
    const bool one = frame.results[0] != CircuitBuilder::kFalse, other = frame.results[1] != CircuitBuilder::kFalse;
    if (frame.is_hidden) {
      part = one || other ? CircuitBuilder::kTrue : CircuitBuilder::kFalse;
    } else if (one && other) {
      part = either(frame);
    } else if (one || other) {
      part = product(one ? frame.first_factors : frame.factors);
    }
    cache_.add(components_[frame.component], part);
    frames_.pop_back();
    take(frames_.back(), part);
  }

  // What both branches have in common is not said twice.
  Part either(const Frame& frame) {
    Factors common, one, other;
    std::ranges::set_intersection(frame.first_factors, frame.factors, std::back_inserter(common));
    std::ranges::set_difference(frame.first_factors, common, std::back_inserter(one));
    std::ranges::set_difference(frame.factors, common, std::back_inserter(other));
    if (one.size() > 1 || other.size() > 1) common.push_back(builder_.sum({product(one), product(other)}));
    std::ranges::sort(common);
    return product(common);
  }

  Part product(const Factors& factors) { return builder_.product(factors); }

  void choose(Frame& frame) {
    const auto [variables, clauses] = components_[frame.component];
    components_.count_occurrences(frame.component, counts_, balance_);
    frame.is_hidden = std::ranges::all_of(variables, [&](int variable) { return is_hidden(variable); });
    double best = -1;
    for (const auto variable : variables) {
      const auto place = static_cast<std::size_t>(variable);
      const double score = order_[place];
      if ((frame.is_hidden || !hidden_[place]) && score > best) {
        best = score;
        frame.variable = variable;
        frame.literal = balance_[place] >= 0 ? variable : -variable;
      }
      counts_[place] = 0;
      balance_[place] = 0;
    }
  }

  bool is_hidden(int variable) const { return hidden_[static_cast<std::size_t>(variable)]; }

  void look_at_clock() {
    check_interrupt();
    if (++decisions_ % kDecisionsBetweenLooks != 0 || thread_seconds() < deadline_) return;
    throw Error(fmt::format("circuit: did not compile in {:.0f} s ({} decisions, {} nodes)", limits_.seconds,
                            decisions_, builder_.nodes()));
  }

  int variables_;
  CompilerLimits limits_;
  double deadline_;
  CircuitBuilder builder_;
  Propagation propagation_;
  Components components_;
  ComponentCache cache_;
  std::vector<bool> hidden_;
  std::vector<int> order_;
  std::vector<double> counts_;
  std::vector<int> balance_;
  std::vector<Frame> frames_;
  std::int64_t decisions_ = 0;
};

}  // namespace

Circuit compile_by_decisions(int variables, const std::vector<std::vector<int>>& clauses,
                             const std::vector<int>& hidden, const CompilerLimits& limits) {
  return DecisionCompiler(variables, clauses, hidden, limits).run();
}

}  // namespace anesi
