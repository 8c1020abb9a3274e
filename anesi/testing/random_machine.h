// A random small problem: a machine with random tables, which knows everything about itself that models and pruners
// can make use of.
#pragma once

#include <memory>
#include <random>

#include "anesi/core/problem.h"
#include "anesi/exact/automaton.h"
#include "anesi/logic/cnf.h"
#include "anesi/search/automaton_pruner.h"

namespace anesi::toys {

// Two to four world variables of one to three values, one to three outputs of one to three, two or three states.
class RandomMachine final : public Problem {
 public:
  explicit RandomMachine(std::uint64_t seed) : RandomMachine(std::mt19937_64(seed)) {}

  const Space& worlds() const override { return worlds_; }
  const Space& outputs() const override { return outputs_; }
  void apply(PointRows worlds, MutablePointRows outputs) const override {
    std::ranges::copy(automaton_->run(worlds).values(), outputs.data());
  }

 private:
  explicit RandomMachine(std::mt19937_64 random)
      : worlds_(random_space(2, 4, random)), outputs_(random_space(1, 3, random)) {
    const auto between = [&](std::int64_t low, std::int64_t high) {
      return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    // Outputs come out at random steps, in their own order; what is left comes after the last one.
    std::vector<ReadingStep> steps;
    std::int64_t emitted = 0, kind = 0;
    for (std::int64_t variable = 0; variable < worlds_.variables(); ++variable) {
      ReadingStep step{.reads = {variable}, .emits = std::nullopt, .kind = kind++};
      if (emitted < outputs_.variables() && between(0, 1) == 1) step.emits = emitted++;
      steps.push_back(std::move(step));
    }
    while (emitted < outputs_.variables()) steps.push_back({.reads = {}, .emits = emitted++, .kind = kind++});
    const ReadingOrder reading(worlds_, outputs_, std::move(steps));
    const auto states = between(2, 3);
    automaton_ = std::make_shared<const Automaton>(
        reading, states, /*start=*/0, [&](std::int64_t of, Values /*read*/, std::int64_t /*state*/) {
          return Automaton::Move{.emits = between(0, reading.kind(of).emit_domain - 1), .next = between(0, states - 1)};
        });
    facts_.with(reading).with(automaton_);
    facts_.lazily<Pruner>([automaton = automaton_] { return make_automaton_pruner(automaton); });
    facts_.lazily<Cnf>([automaton = automaton_, worlds = worlds_, outputs = outputs_] {
      return table_as_formula(*automaton, worlds, outputs);
    });
  }

  static Space random_space(std::int64_t fewest, std::int64_t most, std::mt19937_64& random) {
    std::vector<std::int64_t> domains(
        static_cast<std::size_t>(std::uniform_int_distribution<std::int64_t>(fewest, most)(random)));
    for (auto& domain : domains) domain = std::uniform_int_distribution<std::int64_t>(1, 3)(random);
    return Space(std::move(domains));
  }

  // Every world implies its output.
  static Cnf table_as_formula(const Automaton& automaton, const Space& worlds, const Space& outputs) {
    Cnf cnf(worlds, outputs);
    worlds.for_each_point([&](Values world) {
      const auto output = automaton.run({world.data(), 1, std::ssize(world)});
      std::vector<int> unless;
      for (std::size_t variable = 0; variable < world.size(); ++variable) {
        unless.push_back(-cnf.world(static_cast<std::int64_t>(variable), world[variable]));
      }
      for (std::int64_t variable = 0; variable < outputs.variables(); ++variable) {
        auto clause = unless;
        clause.push_back(cnf.output(variable, output[0][static_cast<std::size_t>(variable)]));
        cnf.add(std::move(clause));
      }
    });
    return cnf;
  }

  Space worlds_, outputs_;
  std::shared_ptr<const Automaton> automaton_;
};

}  // namespace anesi::toys
