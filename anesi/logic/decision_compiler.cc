#include "anesi/logic/decision_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

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

constexpr std::int64_t kTurn = 256;         // decisions between looks at the clock
constexpr double kWeightOfActivity = 0.03;  // beside occurrences

// Which variable of a component is decided first: the last in the order of elimination, or the one in most clauses and
// recent conflicts. Where the formula has a structure the former is better, elsewhere the latter.
enum class Ranking { kElimination, kOccurrences };

class DecisionCompiler {
 public:
  DecisionCompiler(int variables, const std::vector<std::vector<int>>& clauses, std::vector<bool> hidden,
                   Ranking ranking, std::size_t cache_bytes)
      : variables_(variables),
        ranking_(ranking),
        hidden_(std::move(hidden)),
        builder_(variables),
        propagation_(all_variables(), clauses),
        components_(all_variables(), propagation_),
        cache_(cache_bytes),
        rank_(elimination_order(all_variables(), clauses, hidden_)),
        occurrences_(hidden_.size(), 0),
        balance_(hidden_.size(), 0) {
    begin();
  }

  // Goes on for so many decisions, or to the end.
  void advance(std::int64_t decisions) {
    for (const auto stop = decisions_ + decisions; !result_ && decisions_ < stop;) {
      auto& frame = frames_.back();
      if (!frame.closed) {
        go_on(frame);
      } else if (frame.variable == 0) {
        result_ = frame.results[0];
      } else if (frame.branches < 2 && !(frame.is_hidden && frame.results[0] == CircuitBuilder::kTrue)) {
        begin_branch(frame);
      } else {
        finish(frame);
      }
    }
  }

  bool done() const { return result_.has_value(); }
  Circuit circuit() const { return builder_.build(*result_); }
  std::int64_t nodes() const { return builder_.nodes(); }
  std::int64_t decisions() const { return decisions_; }

 private:
  // A component of which both values of a variable are tried. The first frame is the formula's, and decides nothing.
  struct Frame {
    std::size_t component = 0;
    int literal = 0, variable = 0;    // that is decided, first as the literal says
    bool is_hidden = false;           // it has no variables that are not: any model will do
    int branches = 0;                 // begun so far
    bool closed = true;               // the last of them
    Factors factors = {};             // of that branch, as far as they are known
    std::size_t first = 0, next = 0;  // of its components; the next to be compiled
    ComponentCache::Mark mark = {};   // of the cache before them
    Part results[2] = {CircuitBuilder::kFalse, CircuitBuilder::kFalse};
    Factors first_factors = {};
  };

  void begin() {
    if (!propagation_.consistent()) {
      result_ = CircuitBuilder::kFalse;
      return;
    }
    Frame whole{.branches = 1, .closed = false};
    for (int variable = 1; variable <= variables_; ++variable) {
      if (!is_hidden(variable) && propagation_.is_open(variable)) continue;
      const bool holds = !is_hidden(variable) && propagation_.is_true(variable);
      whole.factors.push_back(builder_.literal(holds ? variable : -variable));
    }
    components_.add_whole();
    frames_.push_back(std::move(whole));
  }

  void begin_branch(Frame& frame) {
    ++decisions_;
    const auto literal = frame.branches++ == 0 ? frame.literal : -frame.literal;
    frame.closed = false;
    frame.factors.clear();
    if (!propagation_.decide(literal)) {
      propagation_.take_back();
      frame.closed = true;
      return;
    }
    for (const auto variable : components_[frame.component].variables) {
      if (propagation_.is_open(variable) || is_hidden(variable)) continue;
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
    components_.count_occurrences(frame.component, occurrences_, balance_);
    frame.is_hidden = std::ranges::all_of(variables, [&](int variable) { return is_hidden(variable); });
    std::pair<double, double> best{-1, 0};
    for (const auto variable : variables) {
      const auto place = static_cast<std::size_t>(variable);
      const auto often = occurrences_[place] + kWeightOfActivity * propagation_.activity(variable);
      const std::pair score{ranking_ == Ranking::kOccurrences ? often : 0, rank_[place]};
      if ((frame.is_hidden || !is_hidden(variable)) && score > best) {
        best = score;
        frame.variable = variable;
        frame.literal = balance_[place] >= 0 ? variable : -variable;
      }
      occurrences_[place] = 0;
      balance_[place] = 0;
    }
  }

  int all_variables() const { return static_cast<int>(hidden_.size()) - 1; }
  bool is_hidden(int variable) const { return hidden_[static_cast<std::size_t>(variable)]; }

  int variables_;
  Ranking ranking_;
  std::vector<bool> hidden_;  // by variable, also of those beyond the circuit's
  CircuitBuilder builder_;
  Propagation propagation_;
  Components components_;
  ComponentCache cache_;
  std::vector<double> rank_;         // places in the order of elimination
  std::vector<double> occurrences_;  // in a component, for a moment
  std::vector<int> balance_;         // the same: in how many clauses more a variable is positive than negative
  std::vector<Frame> frames_;
  std::optional<Part> result_;
  std::int64_t decisions_ = 0;
};

}  // namespace

Circuit compile_by_decisions(int variables, const std::vector<std::vector<int>>& clauses,
                             const std::vector<int>& hidden, const CompilerLimits& limits, int further) {
  std::vector<bool> is_hidden(static_cast<std::size_t>(variables) + 1, false);
  for (const auto variable : hidden) is_hidden[static_cast<std::size_t>(variable)] = true;
  is_hidden.resize(is_hidden.size() + static_cast<std::size_t>(further), true);
  const auto deadline = thread_seconds() + limits.seconds;
  std::vector<std::unique_ptr<DecisionCompiler>> compilers;
  for (const auto ranking : {Ranking::kElimination, Ranking::kOccurrences}) {
    compilers.push_back(
        std::make_unique<DecisionCompiler>(variables, clauses, is_hidden, ranking, limits.cache_bytes / 2));
  }
  // They take turns. When one is done, the other may make as many decisions, since its circuit may be smaller.
  std::optional<Circuit> smallest;
  auto most_nodes = limits.nodes, most_decisions = std::numeric_limits<std::int64_t>::max();
  while (!compilers.empty()) {
    for (auto& compiler : compilers) {
      check_interrupt();
      compiler->advance(kTurn);
      const auto nodes = compiler->nodes(), decisions = compiler->decisions();
      const auto others = std::ssize(compilers) - 1 - std::count(compilers.begin(), compilers.end(), nullptr);
      if (compiler->done()) {
        auto circuit = compiler->circuit();
        if (!smallest || circuit.nodes() < smallest->nodes()) smallest = std::move(circuit);
        most_nodes = std::min(most_nodes, nodes);
        most_decisions = std::min(most_decisions, decisions);
        compiler.reset();
      } else if (smallest ? nodes > most_nodes || decisions > most_decisions : nodes > most_nodes && others > 0) {
        compiler.reset();
      } else if (nodes > most_nodes) {
        throw Error(fmt::format("circuit: too large, more than {} nodes after {} decisions", most_nodes, decisions));
      } else if (!smallest && thread_seconds() > deadline) {
        throw Error(fmt::format("circuit: did not compile in {:g} s ({} decisions, {} nodes)", limits.seconds,
                                decisions, nodes));
      }
    }
    std::erase(compilers, nullptr);
  }
  return *std::move(smallest);
}

Circuit Circuit::compile(int variables, const std::vector<std::vector<int>>& clauses, double seconds) {
  return compile_by_decisions(variables, clauses, {}, {.seconds = seconds});
}

Circuit Circuit::compile_projected(int variables, const std::vector<std::vector<int>>& clauses,
                                   const std::vector<int>& hidden, double seconds) {
  return compile_by_decisions(variables, clauses, hidden, {.seconds = seconds});
}

}  // namespace anesi
