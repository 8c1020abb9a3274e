// Structure from a black box: finds, by asking c alone, in which order its world is to be read and what must be
// remembered, as an automaton that gives the outputs of c; and says when there is none.
//
//   const auto found = discover(*problem);
//   if (found.automaton) problem = with(problem, found.automaton);  // exact inference follows
//
// docs/discovery.md says what can be found and what cannot.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anesi/core/output_tables.h"
#include "anesi/discover/distance_bound.h"
#include "anesi/discover/oracle.h"
#include "anesi/discover/worlds.h"
#include "anesi/exact/automaton.h"

namespace anesi {

struct DiscoverOptions {
  DiscoverLimits limits;
  std::int64_t draws = 30000, watched = 4;
  double distance = 0.001;
  std::vector<std::int64_t> order = {};  // in which the world is to be read; empty: that is found out; no option

  void describe(OptionTable& table) {
    limits.describe(table);
    table.add("draws", draws, {100, 100'000'000}, "worlds that a certificate is drawn from");
    table.add(
        "watched", watched, {0, 1'000'000},
        "worlds of each step's beliefs that c and a memory which was found are both given while perception learns; "
        "where they differ the memory is found again");
    table.add("distance", distance, {1e-9, 1}, "share of worlds on which a memory may differ from c at most");
  }
};

struct Discovery {
  std::shared_ptr<const Automaton> automaton;  // null where none was found
  std::shared_ptr<const OutputTables> tables;  // null where some output is of many world variables
  std::optional<DistanceBound> certificate;    // of the automaton or else, for each output by itself, of the tables
  std::string order_by;                        // how the order was found that the automaton reads in
  std::string reason;                          // why there is no automaton, in a few words
  Matrix<double> influence;  // of each world variable on each output, [worlds, outputs]; empty if c took too long
  std::int64_t calls = 0, rounds = 0;  // of c; of learning from worlds on which machine and c differed
  double seconds = 0;
};

// Where to look for worlds on which a machine and c differ, and what its certificate is about.
struct WorldSource {
  DrawWorlds draw;
  std::string name;  // "beliefs of mixed priors"
};

// On how many worlds of a source the problem's automaton (or, for each output by itself, its tables) differs from c,
// from draws whose number is fixed beforehand. Empty where the problem has neither, so that nothing like it can be
// said.
std::optional<DistanceBound> certify_facts(const Problem& problem, const WorldSource& source, std::int64_t draws,
                                           Random& random);

// An automaton found again, in the order in which it reads, so that it is right on these worlds too: perception came
// upon them, and it was wrong there.
Discovery discover_again(const Problem& problem, const Automaton& automaton, PointRows worlds,
                         const DiscoverOptions& options = {}, std::uint64_t seed = 0);

// Every choice is decided by the seed, unless time runs out first. Without a source, worlds are of mixed_worlds().
// `say` is told now and then, in a line, how far it is. Throws Error where c throws one, gives other outputs when it is
// asked again, or leaves its space.
Discovery discover(const Problem& problem, const DiscoverOptions& options = {}, std::uint64_t seed = 0,
                   const std::optional<WorldSource>& source = {},
                   const std::function<void(const std::string&)>& say = {});

}  // namespace anesi
