#include "anesi/discover/problem_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>

#include "anesi/core/asked_output.h"
#include "anesi/core/error.h"
#include "anesi/core/grid_walk.h"
#include "anesi/core/index.h"
#include "anesi/core/known_variables.h"
#include "anesi/core/pruner.h"
#include "anesi/core/reading_order.h"
#include "anesi/core/score.h"
#include "anesi/core/trace.h"
#include "anesi/core/values_are_names.h"
#include "anesi/core/variable_pairs.h"
#include "anesi/discover/cnf_check.h"
#include "anesi/exact/automaton.h"
#include "anesi/logic/cnf.h"
#include "anesi/search/propagation.h"

namespace anesi {
namespace {

using Row = std::vector<std::int64_t>;

constexpr double kSmall = 20000;  // worlds, for brute force
constexpr std::int64_t kWorlds = 1000, kWalks = 100;
// Fewer where worlds are so large that they would take more than this many numbers, or walks more than this much work.
constexpr std::int64_t kNumbers = 20'000'000, kFewestWorlds = 10, kWork = 100'000'000, kFewestChoices = 10;
constexpr const char* kPruner = "pruner";

std::vector<bool> ask(std::int64_t domain, const std::function<void(Mask)>& pruner) {
  const auto mask = std::make_unique<bool[]>(as_size(domain));
  pruner(Mask(mask.get(), as_size(domain)));
  return std::vector<bool>(mask.get(), mask.get() + domain);
}

// Compares masks with what follows in `points`, sorted rows, below every prefix. Returns the first difference, or "".
std::string compare_prefixes(const std::vector<Row>& points, std::size_t begin, std::size_t end, Row& partial,
                             std::size_t depth, const std::function<std::vector<bool>(std::int64_t)>& allowed,
                             std::int64_t& prefixes) {
  if (depth == partial.size()) return "";
  ++prefixes;
  const auto mask = allowed(static_cast<std::int64_t>(depth));
  std::vector<bool> expected(mask.size(), false);
  for (auto index = begin; index < end; ++index) {
    if (points[index][depth] != kNone) expected[as_size(points[index][depth])] = true;
  }
  for (std::size_t value = 0; value < mask.size(); ++value) {
    if (mask[value] == expected[value]) continue;
    return fmt::format("value {} of variable {} after ({}) is {} but {}", value, depth,
                       fmt::join(partial.begin(), partial.begin() + static_cast<std::ptrdiff_t>(depth), ", "),
                       mask[value] ? "allowed" : "forbidden", expected[value] ? "can be completed" : "cannot");
  }
  for (auto first = begin; first < end;) {
    auto last = first;
    const auto value = points[first][depth];
    while (last < end && points[last][depth] == value) ++last;
    partial[depth] = value;
    // Past the end of an output nothing is asked any more.
    auto difference =
        value == kNone ? "" : compare_prefixes(points, first, last, partial, depth + 1, allowed, prefixes);
    partial[depth] = kUnset;
    if (!difference.empty()) return difference;
    first = last;
  }
  return "";
}

Finding brute_force(const Problem& problem, const Pruner& pruner) {
  std::map<Row, std::vector<Row>> worlds_of;
  problem.worlds().for_each_point(
      [&](Values world) { worlds_of[apply_to(problem, world)].emplace_back(world.begin(), world.end()); });
  std::int64_t prefixes = 0;
  Row partial(as_size(problem.worlds().variables()), kUnset);
  for (const auto& [output, worlds] : worlds_of) {
    const auto difference = compare_prefixes(
        worlds, 0, worlds.size(), partial, 0,
        [&, &known = output](std::int64_t variable) {
          return ask(problem.worlds().domain(variable),
                     [&](Mask mask) { pruner.allow_worlds(known, partial, variable, mask); });
        },
        prefixes);
    if (!difference.empty()) {
      return {kPruner, false,
              fmt::format("differs from brute force: for output ({}), {}", fmt::join(output, ", "), difference)};
    }
  }
  std::vector<Row> outputs;
  for (const auto& [output, worlds] : worlds_of) outputs.push_back(output);
  Row unknown(as_size(problem.outputs().variables()), kUnset);
  const auto difference = compare_prefixes(
      outputs, 0, outputs.size(), unknown, 0,
      [&](std::int64_t variable) {
        return ask(problem.outputs().domain(variable),
                   [&](Mask mask) { pruner.allow_outputs(unknown, variable, mask); });
      },
      prefixes);
  if (!difference.empty()) return {kPruner, false, "differs from brute force: of outputs, " + difference};
  return {kPruner, true, fmt::format("equals brute force on all {} prefixes", prefixes)};
}

// Follows random allowed choices to the end, and checks that the way to the world that was drawn stays open. A question
// costs as much as a world is long, so that in very long ones only the last choices are asked for.
Finding random_walks(const Problem& problem, const Pruner& pruner, PointRows worlds, PointRows outputs,
                     Random& random) {
  const auto variables = problem.worlds().variables();
  const auto reading = reading_order_of(problem);
  const auto read = reading.read();
  const auto walks = std::min(kWalks, worlds.size());
  const auto choices = std::clamp(kWork / (walks * variables), std::min(kFewestChoices, variables), variables);
  for (std::int64_t walk = 0; walk < walks; ++walk) {
    const auto world = worlds[walk], output = outputs[walk];
    Row truth(world.size(), kUnset), free(world.size(), kUnset);
    // Half of the walks go in the order of the variables, half in that in which they are read.
    for (std::int64_t step = 0; step < variables; ++step) {
      const auto variable = walk % 2 == 0 ? step : read[as_size(step)];
      const auto place = as_size(variable);
      if (step < variables - choices) {
        truth[place] = free[place] = world[place];
        continue;
      }
      const auto domain = problem.worlds().domain(variable);
      const auto on_the_way = ask(domain, [&](Mask mask) { pruner.allow_worlds(output, truth, variable, mask); });
      if (!on_the_way[as_size(world[place])]) {
        return {kPruner, false,
                fmt::format("forbids value {} of variable {} on the way to a world that gives the output", world[place],
                            variable)};
      }
      truth[place] = world[place];
      if (!pruner.is_exact()) continue;
      const auto open = ask(domain, [&](Mask mask) { pruner.allow_worlds(output, free, variable, mask); });
      const auto count = std::ranges::count(open, true);
      if (count == 0) {
        return {kPruner, false, fmt::format("leads into a dead end at variable {}", variable)};
      }
      auto chosen = random.below(as_size(count));
      for (std::int64_t value = 0; value < domain; ++value) {
        if (open[as_size(value)] && chosen-- == 0) free[place] = value;
      }
    }
    Row known(output.size(), kUnset);
    for (const auto variable : reading.emitted()) {
      const auto value = output[as_size(variable)];
      if (value == kNone) break;
      const auto possible =
          ask(problem.outputs().domain(variable), [&](Mask mask) { pruner.allow_outputs(known, variable, mask); });
      if (!possible[as_size(value)]) {
        return {kPruner, false,
                fmt::format("forbids value {} of output variable {}, which a world gives", value, variable)};
      }
      known[as_size(variable)] = value;
    }
    if (pruner.is_exact() && !std::ranges::equal(apply_to(problem, free), output)) {
      return {kPruner, false, fmt::format("allowed a world that gives another output: ({})", fmt::join(free, ", "))};
    }
  }
  return {kPruner, true,
          fmt::format("{} on {} random walks of {} choices",
                      pruner.is_exact() ? "agrees with c" : "forbids nothing that c gives, but may allow more,", walks,
                      choices)};
}

std::vector<std::int64_t> permutation(std::int64_t size, Random& random) {
  std::vector<std::int64_t> result(as_size(size));
  std::iota(result.begin(), result.end(), 0);
  std::ranges::shuffle(result, random);
  return result;
}

// A search that decides a world's own values must never hear that they are impossible.
Finding check_propagation(const Problem& problem, const PropagationOf& known, PointRows worlds, PointRows outputs,
                          Random& random) {
  const auto walks = std::min(kWalks, worlds.size());
  for (std::int64_t row = 0; row < walks; ++row) {
    const auto world = worlds[row], output = outputs[row];
    const auto propagation = known.make(output);
    const auto order = permutation(problem.worlds().variables(), random);
    const auto rules_out_the_truth = [&] {
      for (std::size_t variable = 0; variable < world.size(); ++variable) {
        if ((propagation->domains()[variable] >> static_cast<unsigned>(world[variable]) & 1U) == 0) return true;
      }
      return false;
    };
    bool good = !rules_out_the_truth();
    for (std::size_t place = 0; place < order.size() && good; ++place) {
      good = propagation->decide(order[place], world[as_size(order[place])]) && !rules_out_the_truth();
    }
    if (!good)
      return {"propagation", false,
              fmt::format("rules out world ({}), which gives the output", fmt::join(world, ", "))};
  }
  return {"propagation", true, fmt::format("never rules out the world, on {} random orders of decisions", walks)};
}

// An output must stay as it is when all world variables but its two change.
Finding check_pairs(const Problem& problem, const std::vector<VariablePair>& pairs, PointRows worlds,
                    PointRows outputs) {
  if (static_cast<std::int64_t>(pairs.size()) != problem.outputs().variables()) {
    return {"pairs", false, fmt::format("{} pairs for {} outputs", pairs.size(), problem.outputs().variables())};
  }
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    for (const auto variable : pairs[pair]) {
      if (variable >= 0 && variable < problem.worlds().variables()) continue;
      return {"pairs", false,
              fmt::format("output {} is said to be of world variable {}; there are {}", pair, variable,
                          problem.worlds().variables())};
    }
  }
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    const auto output = static_cast<std::int64_t>(pair), row = output % (worlds.size() - 1);
    Row other(worlds[row + 1].begin(), worlds[row + 1].end());
    for (const auto variable : pairs[pair]) other[as_size(variable)] = worlds[row][as_size(variable)];
    if (apply_to(problem, other)[pair] != outputs[row][pair]) {
      return {
          "pairs", false,
          fmt::format("output {} depends on more than variables {} and {}", output, pairs[pair][0], pairs[pair][1])};
    }
  }
  return {"pairs", true, fmt::format("each of {} outputs depends on its two variables alone", pairs.size())};
}

Finding check_names(const Problem& problem, PointRows worlds, PointRows outputs, Random& random) {
  if (!problem.worlds().all_domains_equal()) return {"names", false, "variables have different domains"};
  const auto names = permutation(problem.worlds().largest_domain(), random);
  Points renamed(worlds);
  for (auto& value : renamed.rows().values()) value = names[as_size(value)];
  const bool good = differing_rows(apply(problem, renamed), outputs).empty();
  return {"names", good,
          good ? "outputs stay the same when values are renamed" : "outputs change when values are renamed"};
}

Finding check_reading_order(const Problem& problem, const ReadingOrder& reading) {
  const auto complaint = reading.complaint(problem.worlds(), problem.outputs());
  return {"reading order", complaint.empty(),
          complaint.empty() ? "reads every world variable once and emits every output" : complaint};
}

Finding check_automaton(const Problem& problem, const Automaton& automaton, PointRows worlds, PointRows outputs) {
  if (const auto complaint = automaton.reading().complaint(problem.worlds(), problem.outputs()); !complaint.empty()) {
    return {"automaton", false, "is of another function: " + complaint};
  }
  const auto wrong = differing_rows(automaton.run(worlds), outputs);
  if (wrong.empty()) return {"automaton", true, "gives the outputs of c"};
  return {"automaton", false,
          fmt::format("gives another output than c at world ({}), and {} of {} are wrong",
                      fmt::join(worlds[wrong[0]], ", "), wrong.size(), worlds.size())};
}

// They must be variables of the world, and what is drawn for them values of theirs.
Finding check_known(const Problem& problem, const KnownVariables& known, Random& random) {
  constexpr std::int64_t kDraws = 1000;
  std::vector<std::int64_t> domains;
  for (const auto variable : known.variables) {
    if (variable < 0 || variable >= problem.worlds().variables()) {
      return {"known variables", false, fmt::format("there is no variable {} in the world", variable)};
    }
    domains.push_back(problem.worlds().domain(variable));
  }
  const Space space(std::move(domains));
  Row drawn(known.variables.size());
  for (std::int64_t draw = 0; draw < kDraws; ++draw) {
    known.draw(random, drawn);
    if (const auto complaint = space.complaint(drawn); !complaint.empty()) {
      return {"known variables", false, "what is drawn is no value of theirs: " + complaint};
    }
  }
  return {"known variables", true, fmt::format("{}, with values for them", known.variables.size())};
}

// Outputs must be walks from the start to the goal.
Finding check_walks(const Problem& problem, const GridWalk& walk, PointRows worlds, PointRows outputs) {
  if (walk.world_variables() != problem.worlds().variables()) {
    return {"walk", false,
            fmt::format("{} variables of a grid for {} world variables", walk.world_variables(),
                        problem.worlds().variables())};
  }
  if (problem.outputs().largest_domain() != kDirections) {
    return {"walk", false,
            fmt::format("outputs have {} values, a step has {} directions", problem.outputs().largest_domain(),
                        kDirections)};
  }
  for (std::int64_t row = 0; row < outputs.size(); ++row) {
    const auto its_own = walk.in(worlds[row]);
    auto cell = its_own.start;
    for (const auto direction : outputs[row]) {
      if (direction == kNone || cell == kNone) break;
      cell = walk.step(cell, direction);
    }
    if (cell != its_own.goal)
      return {"walk", false, fmt::format("the output of world {} does not end at the goal", row)};
  }
  return {"walk", true, "outputs go from the start to the goal"};
}

// c's own outputs cannot be bettered.
Finding check_score(const Problem& problem, PointRows worlds, PointRows outputs) {
  const auto is_zero = [](float value) { return value == 0; };
  const bool best = std::ranges::all_of(regret(problem, worlds, outputs), is_zero);
  const bool same = std::ranges::all_of(distance(problem, worlds, outputs, outputs), is_zero);
  return {"score", best && same,
          !best   ? "c's own outputs are said to do worse than c's own"
          : !same ? "outputs are said to differ from themselves"
                  : "c's own outputs do as well as c's own"};
}

}  // namespace

std::vector<Finding> check_problem(const Problem& problem, std::uint64_t seed) {
  std::vector<Finding> findings;
  const auto& facts = problem.facts();
  Random random(seed);
  const auto numbers = problem.worlds().variables() * problem.worlds().largest_domain();
  const auto rows = std::clamp(kNumbers / std::max<std::int64_t>(1, numbers), kFewestWorlds, kWorlds);
  const auto worlds = random_points(problem.worlds(), rows, random);
  Points outputs;
  try {
    outputs = apply(problem, worlds);
    for (std::int64_t row = 0; row < rows; ++row) {
      if (const auto complaint = problem.outputs().complaint(outputs[row]); !complaint.empty()) {
        throw Error(
            fmt::format("the output of world ({}) is outside its space: {}", fmt::join(worlds[row], ", "), complaint));
      }
    }
    findings.push_back({"outputs", true, fmt::format("inside their space for {} worlds", rows)});
  } catch (const Error& error) {
    findings.push_back({"outputs", false, error.what()});
    return findings;
  }
  // Again in another order, so that neighbours in a batch and on threads differ, and one at a time.
  const auto order = permutation(rows, random);
  bool same = apply(problem, rows_at(worlds, order)) == rows_at(outputs, order);
  for (std::int64_t row = 0; row < rows && same; ++row) {
    same = std::ranges::equal(apply_to(problem, worlds[row]), outputs[row]);
  }
  findings.push_back({"deterministic", same,
                      same ? "the same outputs again, in batches over threads and one at a time"
                           : "gives different outputs for the same world; c must depend on the world alone"});
  bool readable = true;
  if (const auto* const reading = facts.find<ReadingOrder>()) {
    findings.push_back(check_reading_order(problem, *reading));
    readable = findings.back().good;
  }
  if (const auto* const automaton = facts.find<Automaton>()) {
    findings.push_back(check_automaton(problem, *automaton, worlds, outputs));
  }
  if (const auto* const pruner = facts.find<Pruner>(); pruner != nullptr && readable) {
    findings.push_back(pruner->is_exact() && problem.worlds().points() <= kSmall
                           ? brute_force(problem, *pruner)
                           : random_walks(problem, *pruner, worlds, outputs, random));
  }
  if (const auto* const cnf = facts.find<Cnf>()) {
    const auto some = std::min(kWalks, rows);
    findings.push_back(check_cnf(problem, *cnf, worlds.rows().slice(0, some), outputs.rows().slice(0, some)));
  }
  if (const auto* const propagation = facts.find<PropagationOf>()) {
    findings.push_back(check_propagation(problem, *propagation, worlds, outputs, random));
  }
  if (const auto* const known = facts.find<VariablePairs>()) {
    findings.push_back(check_pairs(problem, known->pairs, worlds, outputs));
  }
  if (facts.find<ValuesAreNames>() != nullptr) findings.push_back(check_names(problem, worlds, outputs, random));
  if (const auto* const known = facts.find<KnownVariables>()) {
    findings.push_back(check_known(problem, *known, random));
  }
  if (facts.find<Score>() != nullptr) findings.push_back(check_score(problem, worlds, outputs));
  if (const auto* const walk = facts.find<GridWalk>()) findings.push_back(check_walks(problem, *walk, worlds, outputs));
  if (const auto* const asked = facts.find<AskedOutput>()) {
    const auto complaint = problem.outputs().complaint(asked->output);
    findings.push_back({"asked output", complaint.empty(), complaint.empty() ? "is one of the outputs" : complaint});
  }
  if (const auto* const trace = facts.find<Trace>()) {
    const auto told = trace->of(worlds);
    const bool good = told == trace->of(worlds) && told.size() == rows;
    findings.push_back({"trace", good,
                        good ? fmt::format("{} numbers of each world, the same again", told.width())
                             : "differs from call to call, or has not a row for each world"});
  }
  return findings;
}

std::optional<bool> pruner_exact(const std::vector<Finding>& findings) {
  for (const auto& finding : findings) {
    if (finding.name == kPruner) return finding.good;
  }
  return std::nullopt;
}

}  // namespace anesi
