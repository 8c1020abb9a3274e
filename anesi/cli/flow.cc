// anesi flow: the flow network of a formula, as numbers or as a picture (appendix D of the paper).
#include <fmt/format.h>

#include <iostream>
#include <set>

#include "anesi/cli/command.h"
#include "anesi/cli/numbers.h"
#include "anesi/core/index.h"
#include "anesi/flow/flow_drawing.h"
#include "anesi/flow/flow_learning.h"
#include "anesi/flow/problem_flow.h"
#include "anesi/formula/formula.h"
#include "anesi/formula/weighted_beliefs.h"
#include "anesi/io/files.h"
#include "anesi/options/value_named.h"
#include "anesi/tensors/rows.h"

namespace anesi::cli {
namespace {

constexpr std::size_t kMostVariables = 6;

struct FlowFlags {
  CommonFlags common;
  std::string file, view = "tree", as = "constraint", svg, backward = "uniform";
  std::vector<double> beliefs;
  std::vector<std::string> names;
  std::int64_t learn = 0;
  std::uint64_t seed = 0;
};

// The variables that worlds are made of, in ascending order.
std::vector<int> variables_of(const Encoding& encoding) {
  std::set<int> variables;
  for (const auto& literals : encoding.worlds) {
    for (const auto literal : literals) variables.insert(std::abs(literal));
  }
  return {variables.begin(), variables.end()};
}

// What a formula's variables are called: as told, else A, B, C, … by their numbers.
class Names {
 public:
  Names(const std::vector<int>& variables, const std::vector<std::string>& told) {
    if (!told.empty() && told.size() != variables.size()) {
      throw UsageError(fmt::format("--names: {} names for {} variables", told.size(), variables.size()));
    }
    for (std::size_t place = 0; place < told.size(); ++place) told_[variables[place]] = told[place];
  }
  std::string operator()(int literal) const {
    const auto variable = std::abs(literal);
    const auto found = told_.find(variable);
    const auto name = found != told_.end() ? found->second
                      : variable <= 26     ? std::string(1, static_cast<char>('A' + variable - 1))
                                           : fmt::format("x{}", variable);
    return literal > 0 ? name : "¬" + name;
  }

 private:
  std::map<int, std::string> told_;
};

// --belief in place of the file's weights: one for all, or one for each variable.
void weigh(Dimacs& formula, const std::vector<int>& variables, const std::vector<double>& beliefs) {
  if (beliefs.empty()) return;
  if (beliefs.size() != 1 && beliefs.size() != variables.size()) {
    throw UsageError(fmt::format("--belief: {} numbers for {} variables; give one for each, or one for all",
                                 beliefs.size(), variables.size()));
  }
  formula.weights.clear();
  for (std::size_t place = 0; place < variables.size(); ++place) {
    const auto belief = beliefs[beliefs.size() == 1 ? 0 : place];
    formula.weights[variables[place]] = belief;
    formula.weights[-variables[place]] = 1 - belief;
  }
}

FlowWords words_of(const Encoding& encoding, const Names& names, FormulaAs as) {
  FlowWords words;
  words.world = [&encoding, names](std::int64_t variable, std::int64_t value) {
    return names(encoding.world(variable, value));
  };
  words.output = [&encoding, names, as](std::int64_t variable, std::int64_t value) {
    if (as == FormulaAs::kDefinition) return names(encoding.output(variable, value));
    return as == FormulaAs::kClauses ? fmt::format("c{}={}", variable + 1, value) : fmt::format("y={}", value);
  };
  words.stands_out = [](const FlowState& state) {
    return std::ranges::all_of(state.output, [](std::int64_t value) { return value == 1; });
  };
  return words;
}

// How far one flow is from another, relative to it, at outputs and worlds: there all flows of the same rewards agree.
double largest_difference(const FlowNetwork& network, const Flow& flow, const Flow& exact) {
  double largest = 0;
  const auto compare = [&](double found, double expected) {
    if (expected > 0) largest = std::max(largest, std::abs(found / expected - 1));
  };
  for (std::size_t state = 0; state < exact.states.size(); ++state) {
    const auto& world = network.states()[state].world;
    if (std::ranges::all_of(world, [](std::int64_t value) { return value == kUnset; }))
      compare(flow.states[state], exact.states[state]);
  }
  for (const auto& end : network.ends()) compare(flow.actions[as_size(end.stop)], exact.actions[as_size(end.stop)]);
  return largest;
}

nlohmann::ordered_json json_of(const FlowNetwork& network, const Flow& flow, const FlowWords& words) {
  auto states = nlohmann::ordered_json::array(), actions = nlohmann::ordered_json::array();
  for (std::int64_t state = 0; state <= network.sink(); ++state) {
    states.push_back({{"state", describe_state(network, state, words)}, {"flow", flow.states[as_size(state)]}});
  }
  const auto forward = forward_policy(network, flow), backward = backward_policy(network, flow);
  for (std::size_t action = 0; action < network.actions().size(); ++action) {
    actions.push_back({{"from", network.actions()[action].from},
                       {"to", network.actions()[action].to},
                       {"flow", flow.actions[action]},
                       {"forward", forward[action]},
                       {"backward", backward[action]}});
  }
  return {{"view", name_of(network.view())}, {"nodes", network.nodes()}, {"states", states}, {"actions", actions}};
}

void print(const FlowNetwork& network, const Flow& flow, const FlowWords& words) {
  std::cout << fmt::format("{}: {} nodes and the sink, {} edges\n", name_of(network.view()), network.nodes(),
                           network.actions().size());
  std::cout << fmt::format("{:<28}{:<28}{:>10}{:>10}{:>10}\n", "from", "to", "flow", "P_F", "P_B");
  const auto forward = forward_policy(network, flow), backward = backward_policy(network, flow);
  for (std::size_t action = 0; action < network.actions().size(); ++action) {
    const auto& [from, to, sets, variable, value] = network.actions()[action];
    std::cout << fmt::format("{:<28}{:<28}{:>10.6f}{:>10.6f}{:>10.6f}\n", describe_state(network, from, words),
                             describe_state(network, to, words), flow.actions[action], forward[action],
                             backward[action]);
  }
}

void show_flow(const FlowFlags& flags) {
  const auto context = flags.common.context();
  if (std::filesystem::path(flags.file).extension() != ".cnf") {
    throw UsageError(fmt::format("{}: not a formula in DIMACS (.cnf)", flags.file));
  }
  auto formula = read_dimacs(flags.file, context.say);
  const FormulaOptions options{.as = value_named<FormulaAs>("--as", flags.as)};
  const auto encoding = encoded(formula, options).encoding();
  const auto variables = variables_of(encoding);
  if (variables.size() > kMostVariables) {
    throw UsageError(fmt::format("{}: worlds of {} variables; flows are shown of up to {}", flags.file,
                                 variables.size(), kMostVariables));
  }
  weigh(formula, variables, flags.beliefs);
  const auto problem = formula_problem(formula, options);
  const auto belief = tensor_of(weighted_beliefs(encoding, problem->worlds(), formula).beliefs.rows());
  const auto network =
      std::make_shared<const FlowNetwork>(make_flow_network(*problem, value_named<FlowView>("--view", flags.view)));
  const auto exact = exact_flow(*network, world_beliefs(belief, problem->worlds()));
  const FlowLearningOptions learning{.backward = value_named<BackwardKind>("--backward", flags.backward),
                                     .steps = flags.learn};
  const auto flow = flags.learn > 0 ? learned_flow(network, belief, learning, flags.seed) : exact;
  auto words = words_of(encoding, Names(variables, flags.names), options.as);
  words.title = fmt::format("{}: {}", std::filesystem::path(flags.file).filename().string(), flags.view);
  const auto picture = flags.svg.empty() ? std::string() : draw_flow(*network, flow, words);
  if (flags.common.json) {
    auto json = json_of(*network, flow, words);
    if (flags.learn > 0) json["largest_difference"] = largest_difference(*network, flow, exact);
    print_json(json);
  } else if (flags.svg.empty()) {
    print(*network, flow, words);
  }
  if (flags.learn > 0 && !flags.common.json) {
    std::cout << fmt::format("learned; outputs and worlds are off by at most {:.3f} %\n",
                             100 * largest_difference(*network, flow, exact));
  }
  if (flags.svg.empty()) return;
  write_file_atomically(flags.svg, picture);
  context.say(fmt::format("drawn in {}", flags.svg));
}

}  // namespace

void add_flow(CLI::App& app, int&) {
  auto* command = app.add_subcommand("flow", "how probability flows from beliefs through outputs to worlds");
  auto flags = std::make_shared<FlowFlags>();
  command->add_option("FILE", flags->file, "a formula of up to 6 variables, in DIMACS (.cnf)")->required();
  command
      ->add_option("--view", flags->view,
                   "what a state is: choices in one order (tree, the default), the set of what is true (lattice), or "
                   "choices in any order (assignments)")
      ->check(CLI::IsMember({"tree", "lattice", "assignments"}));
  command
      ->add_option("--belief", flags->beliefs,
                   "probability that each variable is true, or one for all (default: the file's weights, else 0.5)")
      ->check(real_number(0.0, 1.0));
  command->add_option("--names", flags->names, "what variables are called (default A, B, C, …)");
  command->add_option("--as", flags->as, "what the formula is as a problem (default constraint)")
      ->check(CLI::IsMember({"constraint", "clauses", "definition"}));
  command
      ->add_option("--learn", flags->learn,
                   "learn the flow by trajectory balance in so many steps, in place of the exact one")
      ->check(whole_number(1, 1'000'000));
  command->add_option("--backward", flags->backward, "P_B while it learns (default uniform)")
      ->check(CLI::IsMember({"uniform", "learned", "flow"}));
  command->add_option("--seed", flags->seed, "decides every random draw (default 0)")->check(seed_number());
  command->add_option("--svg", flags->svg, "draw it into this file");
  flags->common.add_to(*command);
  command->footer(
      "What flows through y=1 is p(y=1|P), and what comes out at a world is p(w|P).\n"
      "Examples:\n  anesi flow examples/a_or_b.cnf --belief 0.3 0.6 --svg tree.svg\n"
      "  anesi flow examples/a_or_b.cnf --belief 0.3 0.6 --view lattice --svg lattice.svg\n"
      "  anesi flow examples/a_or_b.cnf --view lattice --learn 500 --backward learned");
  command->callback([flags] { show_flow(*flags); });
}

}  // namespace anesi::cli
