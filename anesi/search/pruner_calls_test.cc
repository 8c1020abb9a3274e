// Pruners and the functions that they are of, in random sequences of calls, against all worlds.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <memory>

#include "anesi/core/build.h"
#include "anesi/core/index.h"
#include "anesi/search/remembering_pruner.h"
#include "anesi/search/sat_pruner.h"
#include "anesi/testing/call_sequences.h"
#include "anesi/testing/random_machine.h"

namespace anesi {
namespace {

// Worlds and outputs that are decided in part, and what pruners say of them.
struct Deciding {
  Deciding(std::uint64_t seed, std::function<std::shared_ptr<const Pruner>(const Problem&)> make)
      : problem(seed),
        pruner(make(problem)),
        worlds(all_points(problem.worlds())),
        outputs(apply(problem, worlds)),
        world(as_size(problem.worlds().variables()), kUnset),
        output(as_size(problem.outputs().variables()), kUnset) {}

  static bool agree(Values point, Values partial) {
    for (std::size_t place = 0; place < point.size(); ++place) {
      if (partial[place] != kUnset && partial[place] != point[place]) return false;
    }
    return true;
  }

  // Of the next variable's values, by trying all worlds.
  std::vector<bool> expected(bool of_outputs, std::int64_t variable) const {
    const auto& space = of_outputs ? problem.outputs() : problem.worlds();
    std::vector<bool> mask(as_size(space.domain(variable)));
    for (std::int64_t row = 0; row < worlds.size(); ++row) {
      const auto point = (of_outputs ? outputs : worlds)[row];
      if (agree(outputs[row], output) && (of_outputs || agree(worlds[row], world))) {
        mask[as_size(point[as_size(variable)])] = true;
      }
    }
    return mask;
  }

  std::string ask(bool of_outputs, std::mt19937_64& random) const {
    const auto& space = of_outputs ? problem.outputs() : problem.worlds();
    const auto& partial = of_outputs ? output : world;
    const auto variable = toys::drawn_below(space.variables(), random);
    if (partial[as_size(variable)] != kUnset) return "";
    const auto values = as_size(space.domain(variable));
    const auto found = std::make_unique<bool[]>(values);
    const Mask mask(found.get(), values);
    if (of_outputs) {
      pruner->allow_outputs(output, variable, mask);
    } else {
      pruner->allow_worlds(output, world, variable, mask);
    }
    const auto truth = expected(of_outputs, variable);
    return std::equal(truth.begin(), truth.end(), mask.begin())
               ? ""
               : fmt::format("variable {}: {} is allowed, not {}", variable, fmt::join(mask, " "),
                             fmt::join(truth, " "));
  }

  static std::string decide(const Space& space, std::vector<std::int64_t>& partial, std::mt19937_64& random) {
    const auto variable = toys::drawn_below(space.variables(), random);
    partial[as_size(variable)] = toys::drawn_below(space.domain(variable), random);
    return "";
  }
  static std::string reopen(std::vector<std::int64_t>& partial, std::mt19937_64& random) {
    partial[as_size(toys::drawn_below(static_cast<std::int64_t>(partial.size()), random))] = kUnset;
    return "";
  }

  toys::RandomMachine problem;
  std::shared_ptr<const Pruner> pruner;
  Points worlds, outputs;
  std::vector<std::int64_t> world, output;
};

toys::MakeComparedCalls calls_of(const std::function<std::shared_ptr<const Pruner>(const Problem&)>& make) {
  return [make](std::uint64_t seed) -> toys::ComparedCalls {
    const auto state = std::make_shared<Deciding>(seed, make);
    using Random = std::mt19937_64;
    return {
        {"decide a world variable",
         [state](Random& random) { return Deciding::decide(state->problem.worlds(), state->world, random); }},
        {"decide an output",
         [state](Random& random) { return Deciding::decide(state->problem.outputs(), state->output, random); }},
        {"reopen a world variable", [state](Random& random) { return Deciding::reopen(state->world, random); }},
        {"reopen an output", [state](Random& random) { return Deciding::reopen(state->output, random); }},
        {"ask about worlds", [state](Random& random) { return state->ask(/*of_outputs=*/false, random); }},
        {"ask about outputs", [state](Random& random) { return state->ask(/*of_outputs=*/true, random); }},
    };
  };
}

std::shared_ptr<const Pruner> by_automaton(const Problem& problem) { return problem.facts().share<Pruner>(); }

TEST(PrunerCalls, OfAutomata) { toys::check_call_sequences(calls_of(by_automaton), 200, 40); }

TEST(PrunerCalls, OfPrunersThatRemember) {
  toys::check_call_sequences(
      calls_of([](const Problem& problem) { return make_remembering_pruner(by_automaton(problem), /*most=*/500); }),
      200, 40);
}

TEST(PrunerCalls, OfFormulas) {
  if (!this_build().cadical) GTEST_SKIP() << "built without CaDiCaL";
  toys::check_call_sequences(calls_of([](const Problem& problem) { return make_sat_pruner(problem); }), 60, 40);
}

// A function of one world at a time, asked about batches of any size, beside the machine that it is taken from.
TEST(ProblemCalls, OfLambdas) {
  const auto make = [](std::uint64_t seed) -> toys::ComparedCalls {
    const auto machine = std::make_shared<toys::RandomMachine>(seed);
    const auto problem =
        make_problem(machine->worlds(), machine->outputs(), [machine](Values world, MutableValues output) {
          std::ranges::copy(apply_to(*machine, world), output.begin());
        });
    return {{"apply",
             [=](std::mt19937_64& random) -> std::string {
               const auto all = all_points(machine->worlds());
               std::vector<std::int64_t> rows(as_size(toys::drawn_below(200, random)));
               for (auto& row : rows) row = toys::drawn_below(all.size(), random);
               const auto worlds = rows_at(all, rows);
               return apply(*problem, worlds) == apply(*machine, worlds) ? "" : "other outputs";
             }},
            {"apply to one", [=](std::mt19937_64& random) -> std::string {
               const auto all = all_points(machine->worlds());
               const auto row = toys::drawn_below(all.size(), random);
               const auto expected = apply(*machine, all);
               return std::ranges::equal(apply_to(*problem, all[row]), expected[row]) ? "" : "another output";
             }}};
  };
  toys::check_call_sequences(make, 30, 20);
}

}  // namespace
}  // namespace anesi
