#include "anesi/check/problem_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "anesi/core/beliefs.h"
#include "anesi/core/error.h"
#include "anesi/core/seeded.h"
#include "anesi/exact/automaton_inference.h"
#include "anesi/pruners/sat_pruner.h"

namespace anesi {
namespace {

using Row = std::vector<std::int64_t>;

constexpr double kSmall = 20000;  // worlds, for brute force
constexpr std::int64_t kWorlds = 1000, kWalks = 100;
constexpr const char* kPruner = "pruner";

Row row_of(const torch::Tensor& matrix, std::int64_t row) {
  const auto values = matrix[row].contiguous();
  return {values.const_data_ptr<std::int64_t>(), values.const_data_ptr<std::int64_t>() + values.numel()};
}

std::vector<bool> ask(std::int64_t domain, const std::function<void(Mask)>& pruner) {
  const auto mask = std::make_unique<bool[]>(static_cast<std::size_t>(domain));
  pruner(Mask(mask.get(), static_cast<std::size_t>(domain)));
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
    if (points[index][depth] != kNone) expected[static_cast<std::size_t>(points[index][depth])] = true;
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
      [&](Values world) { worlds_of[apply_checked(problem, world)].emplace_back(world.begin(), world.end()); });
  std::int64_t prefixes = 0;
  Row partial(static_cast<std::size_t>(problem.worlds().variables()), kUnset);
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
  Row unknown(static_cast<std::size_t>(problem.outputs().variables()), kUnset);
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

// Follows random allowed choices to the end, and checks that the way to the world that was drawn stays open.
Finding random_walks(const Problem& problem, const Pruner& pruner, const torch::Tensor& worlds,
                     const torch::Tensor& outputs, const at::Generator& generator) {
  const auto variables = problem.worlds().variables();
  const auto reading = problem.reading_order();
  const auto read = reading.read();
  for (std::int64_t walk = 0; walk < kWalks; ++walk) {
    const auto world = row_of(worlds, walk), output = row_of(outputs, walk);
    Row truth(world.size(), kUnset), free(world.size(), kUnset);
    // Half of the walks go in the order of the variables, half in that in which they are read.
    for (std::int64_t step = 0; step < variables; ++step) {
      const auto variable = walk % 2 == 0 ? step : read[static_cast<std::size_t>(step)];
      const auto place = static_cast<std::size_t>(variable);
      const auto domain = problem.worlds().domain(variable);
      const auto on_the_way = ask(domain, [&](Mask mask) { pruner.allow_worlds(output, truth, variable, mask); });
      if (!on_the_way[static_cast<std::size_t>(world[place])]) {
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
      auto chosen = torch::randint(count, {1}, generator, torch::kInt64).item<std::int64_t>();
      for (std::int64_t value = 0; value < domain; ++value) {
        if (open[static_cast<std::size_t>(value)] && chosen-- == 0) free[place] = value;
      }
    }
    Row known(output.size(), kUnset);
    for (const auto variable : reading.emitted()) {
      const auto value = output[static_cast<std::size_t>(variable)];
      if (value == kNone) break;
      const auto possible =
          ask(problem.outputs().domain(variable), [&](Mask mask) { pruner.allow_outputs(known, variable, mask); });
      if (!possible[static_cast<std::size_t>(value)]) {
        return {kPruner, false,
                fmt::format("forbids value {} of output variable {}, which a world gives", value, variable)};
      }
      known[static_cast<std::size_t>(variable)] = value;
    }
    if (pruner.is_exact() && apply_checked(problem, free) != output) {
      return {kPruner, false, fmt::format("allowed a world that gives another output: ({})", fmt::join(free, ", "))};
    }
  }
  return {kPruner, true,
          fmt::format("{} on {} random walks of {} choices",
                      pruner.is_exact() ? "agrees with c" : "forbids nothing that c gives, but may allow more,", kWalks,
                      variables)};
}

// At a whole world, changing one variable must be allowed exactly where it leaves the output as it is.
Finding check_formula(const Problem& problem, const torch::Tensor& worlds, const torch::Tensor& outputs) {
  const auto pruner = make_sat_pruner(problem);
  std::int64_t checked = 0;
  for (std::int64_t row = 0; row < std::min<std::int64_t>(worlds.size(0), kWalks); ++row) {
    auto world = row_of(worlds, row);
    const auto output = row_of(outputs, row);
    const auto variable = row % problem.worlds().variables();
    const auto domain = problem.worlds().domain(variable);
    const auto allowed = ask(domain, [&](Mask mask) { pruner->allow_worlds(output, world, variable, mask); });
    for (std::int64_t value = 0; value < domain; ++value, ++checked) {
      world[static_cast<std::size_t>(variable)] = value;
      if (allowed[static_cast<std::size_t>(value)] != (apply_checked(problem, world) == output)) {
        return {"formula", false, fmt::format("disagrees with c at world ({})", fmt::join(world, ", "))};
      }
    }
  }
  return {"formula", true, fmt::format("agrees with c on {} worlds", checked)};
}

// A search that decides a world's own values must never hear that they are impossible.
Finding check_propagation(const Problem& problem, const torch::Tensor& worlds, const torch::Tensor& outputs,
                          const at::Generator& generator) {
  for (std::int64_t row = 0; row < kWalks; ++row) {
    const auto world = row_of(worlds, row), output = row_of(outputs, row);
    const auto propagation = problem.propagation(output);
    const auto order = row_of(torch::randperm(problem.worlds().variables(), generator, torch::kInt64).unsqueeze(0), 0);
    const auto rules_out_the_truth = [&] {
      for (std::size_t variable = 0; variable < world.size(); ++variable) {
        if ((propagation->domains()[variable] >> static_cast<unsigned>(world[variable]) & 1U) == 0) return true;
      }
      return false;
    };
    bool good = !rules_out_the_truth();
    for (std::size_t place = 0; place < order.size() && good; ++place) {
      good = propagation->decide(order[place], world[static_cast<std::size_t>(order[place])]) && !rules_out_the_truth();
    }
    if (!good)
      return {"propagation", false,
              fmt::format("rules out world ({}), which gives the output", fmt::join(world, ", "))};
  }
  return {"propagation", true, fmt::format("never rules out the world, on {} random orders of decisions", kWalks)};
}

// An output must stay as it is when all world variables but its two change.
Finding check_pairs(const Problem& problem, const torch::Tensor& worlds, const torch::Tensor& outputs) {
  const auto pairs = problem.pairs();
  if (static_cast<std::int64_t>(pairs.size()) != problem.outputs().variables()) {
    return {"pairs", false, fmt::format("{} pairs for {} outputs", pairs.size(), problem.outputs().variables())};
  }
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    const auto output = static_cast<std::int64_t>(pair), row = output % (kWorlds - 1);
    auto other = worlds[row + 1].clone();
    for (const auto variable : pairs[pair]) other[variable] = worlds[row][variable];
    const auto changed = problem.apply_batch(other.unsqueeze(0))[0][output].item<std::int64_t>();
    if (changed != outputs[row][output].item<std::int64_t>()) {
      return {
          "pairs", false,
          fmt::format("output {} depends on more than variables {} and {}", output, pairs[pair][0], pairs[pair][1])};
    }
  }
  return {"pairs", true, fmt::format("each of {} outputs depends on its two variables alone", pairs.size())};
}

Finding check_names(const Problem& problem, const torch::Tensor& worlds, const torch::Tensor& outputs,
                    const at::Generator& generator) {
  const auto names = torch::randperm(problem.worlds().largest_domain(), generator, torch::kInt64);
  const auto renamed = names.index_select(0, worlds.view(-1)).view(worlds.sizes());
  const bool good = torch::equal(problem.apply_batch(renamed), outputs);
  return {"names", good,
          good ? "outputs stay the same when values are renamed" : "outputs change when values are renamed"};
}

}  // namespace

std::vector<Finding> check_problem(const Problem& problem, std::uint64_t seed) {
  std::vector<Finding> findings;
  const auto generator = seeded(seed);
  const auto worlds = sample_worlds(uniform_beliefs(kWorlds, problem.worlds()), generator);
  torch::Tensor outputs;
  try {
    outputs = problem.apply_batch(worlds);
    findings.push_back({"outputs", true, fmt::format("inside their space for {} worlds", kWorlds)});
  } catch (const Error& error) {
    findings.push_back({"outputs", false, error.what()});
    return findings;
  }
  // Again in another order, so that neighbours in a batch and on threads differ, and one at a time.
  const auto order = torch::randperm(kWorlds, generator, torch::kInt64);
  bool same = torch::equal(problem.apply_batch(worlds.index_select(0, order)), outputs.index_select(0, order));
  for (std::int64_t row = 0; row < kWorlds && same; ++row) {
    same = apply_checked(problem, row_of(worlds, row)) == row_of(outputs, row);
  }
  findings.push_back({"deterministic", same,
                      same ? "the same outputs again, in batches over threads and one at a time"
                           : "gives different outputs for the same world; c must depend on the world alone"});
  if (const auto automaton = problem.automaton()) {
    const auto log_prob =
        make_automaton_inference(automaton)->log_prob(certain_beliefs(worlds, problem.worlds()), outputs);
    const bool good = (log_prob == 0).all().item<bool>();
    findings.push_back({"automaton", good, good ? "gives the outputs of c" : "gives other outputs than c"});
  }
  if (const auto pruner = problem.pruner()) {
    findings.push_back(pruner->is_exact() && problem.worlds().points() <= kSmall
                           ? brute_force(problem, *pruner)
                           : random_walks(problem, *pruner, worlds, outputs, generator));
  }
  if (problem.cnf()) findings.push_back(check_formula(problem, worlds, outputs));
  if (problem.propagation(row_of(outputs, 0))) {
    findings.push_back(check_propagation(problem, worlds, outputs, generator));
  }
  if (!problem.pairs().empty()) findings.push_back(check_pairs(problem, worlds, outputs));
  if (problem.values_are_names()) findings.push_back(check_names(problem, worlds, outputs, generator));
  return findings;
}

std::optional<bool> pruner_exact(const std::vector<Finding>& findings) {
  for (const auto& finding : findings) {
    if (finding.name == kPruner) return finding.good;
  }
  return std::nullopt;
}

}  // namespace anesi
