// Small problems for tests, so that no test of a lower folder needs a task.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "anesi/core/grid_walk.h"
#include "anesi/core/known_variables.h"
#include "anesi/core/problem.h"
#include "anesi/core/reading_order.h"
#include "anesi/core/trace.h"
#include "anesi/core/variable_pairs.h"
#include "anesi/exact/automaton.h"
#include "anesi/logic/cnf.h"
#include "anesi/search/automaton_pruner.h"
#include "anesi/search/pair_propagation.h"

namespace anesi::toys {

// Addition of two numbers in any base: the digits of both, most significant first, to those of their sum. It tells of
// itself a reading order, an automaton, a formula and a pruner.
class Addition final : public PointwiseProblem {
 public:
  explicit Addition(std::int64_t digits, std::int64_t base = 10)
      : digits_(digits), base_(base), worlds_(Space::uniform(2 * digits, base)), outputs_(sums(digits, base)) {
    std::vector<ReadingStep> steps;
    for (auto place = digits; place-- > 0;) {
      steps.push_back({.reads = {place, digits + place}, .emits = place + 1, .kind = 0});
    }
    steps.push_back({.reads = {}, .emits = 0, .kind = 1});
    const ReadingOrder reading(worlds_, outputs_, std::move(steps));
    const auto automaton = std::make_shared<const Automaton>(
        reading, /*states=*/2, /*start=*/0, [base](std::int64_t kind, Values read, std::int64_t carry) {
          if (kind == 1) return Automaton::Move{.emits = carry, .next = 0};
          const auto sum = read[0] + read[1] + carry;
          return Automaton::Move{.emits = sum % base, .next = sum / base};
        });
    facts_.with(reading).with(automaton);
    facts_.lazily<Pruner>([automaton] { return make_automaton_pruner(automaton); });
    facts_.lazily<Cnf>(
        [digits, base, worlds = worlds_, outputs = outputs_] { return formula(digits, base, worlds, outputs); });
  }

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply_to_one(Values world, MutableValues output) const override {
    std::int64_t carry = 0;
    for (auto place = digits_; place-- > 0;) {
      const auto sum =
          world[static_cast<std::size_t>(place)] + world[static_cast<std::size_t>(digits_ + place)] + carry;
      output[static_cast<std::size_t>(place) + 1] = sum % base_;
      carry = sum / base_;
    }
    output[0] = carry;
  }

 private:
  static Space sums(std::int64_t digits, std::int64_t base) {
    std::vector<std::int64_t> domains(static_cast<std::size_t>(digits) + 1, base);
    domains[0] = 2;
    return Space(std::move(domains));
  }

  // With one variable for the carry out of each place but the first, whose carry is an output.
  static Cnf formula(std::int64_t digits, std::int64_t base, const Space& worlds, const Space& outputs) {
    Cnf cnf(worlds, outputs);
    int carry_in = 0;  // none goes into the last place
    for (auto place = digits; place-- > 0;) {
      const auto carry_out = place == 0 ? cnf.output(0, 1) : cnf.fresh_variable();
      Space{base, base, carry_in == 0 ? 1 : 2}.for_each_point([&](Values read) {
        const auto sum = read[0] + read[1] + read[2];
        std::vector<int> unless{-cnf.world(place, read[0]), -cnf.world(digits + place, read[1])};
        if (carry_in != 0) unless.push_back(read[2] == 1 ? -carry_in : carry_in);
        auto digit = unless, moves = unless;
        digit.push_back(cnf.output(place + 1, sum % base));
        moves.push_back(sum >= base ? carry_out : -carry_out);
        cnf.add(std::move(digit));
        cnf.add(std::move(moves));
      });
      carry_in = carry_out;
    }
    return cnf;
  }

  std::int64_t digits_, base_;
  Space worlds_, outputs_;
};

// Whether pairs of variables differ: an output for each, 1 where they do. It tells which they are, and what follows
// from deciding variables.
class PairsThatDiffer final : public PointwiseProblem {
 public:
  PairsThatDiffer(Space worlds, std::vector<VariablePair> pairs)
      : graph_(std::make_shared<PairGraph>(std::move(worlds), std::move(pairs))),
        outputs_(Space::uniform(static_cast<std::int64_t>(graph_->pairs().size()), 2)) {
    facts_.with(VariablePairs{graph_->pairs()}).with(PropagationOf{[graph = graph_](Values output) {
      return std::make_unique<PairPropagation>(graph, output);
    }});
  }

  const PairGraph& graph() const { return *graph_; }
  const Space& worlds() const override { return graph_->worlds(); }
  const Space& outputs() const override { return outputs_; }
  void apply_to_one(Values world, MutableValues output) const override {
    for (std::size_t index = 0; index < output.size(); ++index) {
      const auto [first, second] = graph_->pairs()[index];
      output[index] = world[static_cast<std::size_t>(first)] != world[static_cast<std::size_t>(second)] ? 1 : 0;
    }
  }

 private:
  std::shared_ptr<const PairGraph> graph_;
  Space outputs_;
};

// The cheapest walk over a small grid, from its first cell to its last or, with `any_ends`, between two ends that
// inputs tell; a cell of value v costs v + 1. Of equally cheap directions the first is taken. It tells the grid, and
// the direction from every cell as a trace.
class CheapestWalk final : public PointwiseProblem {
 public:
  explicit CheapestWalk(std::int64_t side, bool any_ends = false, std::int64_t values = 3)
      : walk_{.side = side, .start = 0, .goal = side * side - 1, .ends_in_world = any_ends},
        worlds_(worlds_of(walk_, values)),
        outputs_(Space::uniform(side * side - 1, kDirections)) {
    const auto walk = walk_;
    facts_.with(walk).with(Trace{[walk](PointRows worlds) {
      Points all(worlds.size(), walk.cells());
      for (std::int64_t row = 0; row < worlds.size(); ++row) {
        std::ranges::copy(directions(walk.in(worlds[row]), worlds[row]), all[row].begin());
      }
      return all;
    }});
    if (!any_ends) return;
    KnownVariables ends{.variables = {}, .draw = [side](Random& random, MutableValues values) {
                          for (auto& value : values) {
                            value = static_cast<std::int64_t>(random.below(static_cast<std::size_t>(side)));
                          }
                        }};
    for (std::int64_t end = 0; end < kEndVariables; ++end) ends.variables.push_back(walk.cells() + end);
    facts_.with(ends);
  }

  const GridWalk& walk() const { return walk_; }
  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply_to_one(Values world, MutableValues output) const override {
    const auto walk = walk_.in(world);
    const auto next = directions(walk, world);
    auto cell = walk.start;
    for (std::size_t step = 0; cell != walk.goal; ++step) {
      output[step] = next[static_cast<std::size_t>(cell)];
      cell = walk.step(cell, output[step]);
    }
  }

 private:
  static Space worlds_of(const GridWalk& walk, std::int64_t values) {
    std::vector<std::int64_t> domains(static_cast<std::size_t>(walk.cells()), values);
    domains.resize(static_cast<std::size_t>(walk.world_variables()), walk.side);
    return Space(std::move(domains));
  }

  // From every cell; kUnset at the goal. By trying every step from every cell until nothing changes.
  static std::vector<std::int64_t> directions(const GridWalk& walk, Values world) {
    const auto goal = walk.goal;
    const auto place = [](std::int64_t cell) { return static_cast<std::size_t>(cell); };
    std::vector<std::int64_t> best(place(walk.cells()), std::numeric_limits<std::int64_t>::max() / 2);
    std::vector<std::int64_t> next(place(walk.cells()), kUnset);
    best[place(goal)] = 0;
    const auto visit_steps = [&](const auto& visit) {
      for (std::int64_t cell = 0; cell < walk.cells(); ++cell) {
        for (std::int64_t direction = 0; direction < kDirections && cell != goal; ++direction) {
          const auto to = walk.step(cell, direction);
          if (to != kNone) visit(cell, direction, best[place(to)] + world[place(to)] + 1);
        }
      }
    };
    for (bool changed = true; changed;) {
      changed = false;
      visit_steps([&](std::int64_t cell, std::int64_t, std::int64_t cost) {
        if (cost >= best[place(cell)]) return;
        best[place(cell)] = cost;
        changed = true;
      });
    }
    visit_steps([&](std::int64_t cell, std::int64_t direction, std::int64_t cost) {
      if (next[place(cell)] == kUnset && cost == best[place(cell)]) next[place(cell)] = direction;
    });
    return next;
  }

  GridWalk walk_;
  Space worlds_, outputs_;
};

// Two variables of three values and their sum; nothing is told of it. With `make_problem`, as users write it.
inline std::shared_ptr<const Problem> sum_of_two() {
  return make_problem(Space::uniform(2, 3), Space{5}, [](Values w, MutableValues y) { y[0] = w[0] + w[1]; });
}

// Domains of different sizes and no structure.
inline std::shared_ptr<const Problem> uneven() {
  return make_problem(Space{2, 4, 3}, Space{3, 2}, [](Values w, MutableValues y) {
    y[0] = (w[0] + w[1] + w[2]) % 3;
    y[1] = w[1] > w[2] ? 1 : 0;
  });
}

// A constraint on variables of two and three values as a formula, with loops; 7 of 24 worlds satisfy it.
inline std::shared_ptr<const Problem> small_formula() {
  Cnf cnf(Encoding{.worlds = {{-1, 1}, {2, 3, 4}, {-5, 5}, {-6, 6}}, .outputs = {}}, 6, {});
  cnf.exactly_one({2, 3, 4});
  for (const auto& clause : std::vector<std::vector<int>>{{1, 2, 5}, {-3, 5, 6}, {-1, -5}, {-2, -6}, {4, 1, -6}}) {
    cnf.add(clause);
  }
  const auto satisfied = [cnf](Values world, MutableValues output) {
    const auto is_true = [&](int literal) {
      for (std::size_t variable = 0; variable < world.size(); ++variable) {
        for (std::int64_t value = 0; value < static_cast<std::int64_t>(cnf.encoding().worlds[variable].size());
             ++value) {
          const auto stands_for_it = cnf.world(static_cast<std::int64_t>(variable), value);
          if (stands_for_it == literal) return world[variable] == value;
          if (stands_for_it == -literal) return world[variable] != value;
        }
      }
      return false;
    };
    const auto holds = [&](const auto& clause) { return std::ranges::any_of(clause, is_true); };
    output[0] = std::ranges::all_of(cnf.clauses(), holds) ? 1 : 0;
  };
  return with(make_problem(Space{2, 3, 2, 2}, Space{2}, satisfied), cnf);
}

}  // namespace anesi::toys
