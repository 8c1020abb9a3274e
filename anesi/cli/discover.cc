// anesi discover: what a task's function depends on, in which order it can be read, and what must be remembered.
#include "anesi/discover/discover.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "anesi/cli/command.h"
#include "anesi/cli/numbers.h"
#include "anesi/core/index.h"
#include "anesi/discover/drawing.h"
#include "anesi/io/files.h"
#include "anesi/io/thousands.h"
#include "anesi/run/configuration.h"
#include "anesi/tensors/worlds.h"

namespace anesi::cli {
namespace {

constexpr std::int64_t kExamplesPerceived = 2000, kPerceivedAtOnce = 100;
constexpr std::int64_t kMostRowsOfInfluence = 16, kMostColumnsOfInfluence = 8;
constexpr std::size_t kMostParts = 16, kLastParts = 4, kLongestPeriod = 6;

struct DiscoverFlags {
  CommonFlags common;
  std::string target, svg;
  std::vector<std::string> settings;
  std::uint64_t seed = 0;
  DiscoverOptions options;
};

// What is to be discovered, and where worlds are to be drawn from.
struct Subject {
  std::string task;
  std::shared_ptr<const Problem> problem;
  std::optional<WorldSource> source;
};

torch::Tensor beliefs_of_training(const LoadedRun& run) {
  const auto data = run.load_data();
  const auto& examples = split_of(data, "train");
  const auto count = std::min(kExamplesPerceived, examples.size());
  std::vector<torch::Tensor> beliefs;
  for (std::int64_t begin = 0; begin < count; begin += kPerceivedAtOnce) {
    const auto rows = torch::arange(begin, std::min(begin + kPerceivedAtOnce, count), torch::kInt64);
    beliefs.push_back(run.predictor.beliefs(examples.inputs(rows)));
  }
  return torch::cat(beliefs);
}

Subject subject_of(const DiscoverFlags& flags, const TaskContext& context) {
  if (names_task(flags.target, context)) {
    Configuration configuration(flags.target);
    for (const auto& setting : flags.settings) configuration.table().set(setting);
    return {flags.target, configuration.make_task(context).problem, std::nullopt};
  }
  if (!std::filesystem::exists(flags.target)) {
    throw UsageError(fmt::format("{}: neither a task nor a run; `anesi tasks` lists the tasks", flags.target));
  }
  if (!flags.settings.empty()) throw UsageError("--set is for discovering a task; a run has its options already");
  const auto run = open_run(flags.target, context);
  return {run.configuration->task_name, run.predictor.shared_problem(),
          WorldSource{worlds_of_beliefs(beliefs_of_training(run)), "beliefs that perception emits"}};
}

// Numbers in a row, what repeats said once: "1, 10, (2, 11) x 14, 2, 1". Of very many, the first and the last.
std::string compact(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t period = 1, times = 1;
    for (std::size_t length = 1; length <= kLongestPeriod && begin + 2 * length <= numbers.size(); ++length) {
      auto end = begin + length;
      while (end < numbers.size() && numbers[end] == numbers[end - length]) ++end;
      const auto repeats = (end - begin) / length;
      // Two in a row are not worth a bracket.
      if (repeats >= 3 && repeats * length > period * times) std::tie(period, times) = std::tuple(length, repeats);
    }
    const auto block =
        fmt::format("{}", fmt::join(numbers.begin() + static_cast<std::ptrdiff_t>(begin),
                                    numbers.begin() + static_cast<std::ptrdiff_t>(begin + period), ", "));
    parts.push_back(times == 1    ? block
                    : period == 1 ? fmt::format("{} x {}", block, times)
                                  : fmt::format("({}) x {}", block, times));
    begin += period * times;
  }
  if (parts.size() > kMostParts) {
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(kMostParts - kLastParts),
                parts.end() - static_cast<std::ptrdiff_t>(kLastParts));
    parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(kMostParts - kLastParts), "…");
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string counted(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", thousands(static_cast<std::uint64_t>(count)), noun, count == 1 ? "" : "s");
}

std::string space_words(const Space& space, const std::string& noun) {
  const auto values = !space.all_domains_equal() ? fmt::format("values: {}", compact(space.domains()))
                      : space.variables() == 1   ? fmt::format("{} values", space.domain(0))
                                                 : fmt::format("{} values each", space.domain(0));
  return fmt::format("{} ({})", counted(space.variables(), noun), values);
}

// How many world variables each output was seen to depend on.
std::vector<std::int64_t> dependences(const Matrix<double>& influence) {
  std::vector<std::int64_t> counts(as_size(influence.width()), 0);
  for (std::int64_t variable = 0; variable < influence.size(); ++variable) {
    for (std::size_t output = 0; output < counts.size(); ++output) counts[output] += influence[variable][output] > 0;
  }
  return counts;
}

std::string influence_words(const Matrix<double>& influence) {
  if (influence.size() > kMostRowsOfInfluence || influence.width() > kMostColumnsOfInfluence) {
    return fmt::format("influence    world variables that each output was seen to depend on: {}\n",
                       compact(dependences(influence)));
  }
  std::string text = "influence    how often another value of a variable changes an output, in %\n             ";
  for (std::int64_t output = 0; output < influence.width(); ++output)
    text += fmt::format("{:>7}", fmt::format("y{}", output));
  for (std::int64_t variable = 0; variable < influence.size(); ++variable) {
    text += fmt::format("\n         {:<4}", fmt::format("w{}", variable));
    for (const double share : influence[variable]) text += fmt::format("{:>7.1f}", 100 * share);
  }
  return text + "\n";
}

std::string certificate_words(const DistanceBound& certificate, bool tables) {
  return fmt::format("{} from c on at most {:.1e} of worlds of {} ({:.0f} %; {} of {} drawn)",
                     tables ? "each output, taken by itself, differs" : "differs", certificate.bound,
                     certificate.beliefs, 100 * certificate.level,
                     thousands(static_cast<std::uint64_t>(certificate.differing)),
                     thousands(static_cast<std::uint64_t>(certificate.draws)));
}

// "810 outputs, each of 2 world variables"
std::string tables_words(const OutputTables& tables) {
  std::size_t fewest = tables.tables[0].variables.size(), most = fewest;
  for (const auto& table : tables.tables) {
    fewest = std::min(fewest, table.variables.size());
    most = std::max(most, table.variables.size());
  }
  const auto variables = static_cast<std::int64_t>(most);
  return fmt::format("{}, each of {}{}", counted(static_cast<std::int64_t>(tables.tables.size()), "output"),
                     fewest == most ? "" : fmt::format("{} to ", fewest), counted(variables, "world variable"));
}

std::string words_of(const Subject& subject, const Discovery& found) {
  auto text = fmt::format("{:<12} {}, {}\n", "c", space_words(subject.problem->worlds(), "world variable"),
                          space_words(subject.problem->outputs(), "output"));
  if (found.influence.size() > 0) text += influence_words(found.influence);
  if (found.automaton) {
    const auto& reading = found.automaton->reading();
    const auto& widths = found.automaton->widths();
    text += fmt::format("{:<12} an automaton: at most {}, {} of steps\n", "found",
                        counted(std::ranges::max(widths), "state"), counted(reading.kinds(), "kind"));
    text += fmt::format("{:<12} {} ({})\n", "order", compact(reading.read()), found.order_by);
    text += fmt::format("{:<12} {}\n", "states", compact(widths));
  } else {
    text += fmt::format("{:<12} {}\n", "found", found.tables ? "tables: " + tables_words(*found.tables) : "nothing");
    text += fmt::format("{:<12} {}\n", found.tables ? "no automaton" : "because", found.reason);
  }
  if (found.certificate) {
    text +=
        fmt::format("{:<12} {}\n", "certificate", certificate_words(*found.certificate, found.automaton == nullptr));
  }
  return text + fmt::format("{:<12} {} of c, {} of correction, {:.2f} s\n", "asked", counted(found.calls, "call"),
                            counted(found.rounds, "round"), found.seconds);
}

nlohmann::ordered_json json_of(const Subject& subject, const Discovery& found) {
  nlohmann::ordered_json json{{"task", subject.task},
                              {"worlds", subject.problem->worlds().domains()},
                              {"outputs", subject.problem->outputs().domains()},
                              {"influence", nullptr},
                              {"found", nullptr},
                              {"order", nullptr},
                              {"order_by", nullptr},
                              {"states", nullptr},
                              {"widest", nullptr},
                              {"kinds", nullptr},
                              {"tables", nullptr},
                              {"calls", found.calls},
                              {"rounds", found.rounds},
                              {"seconds", found.seconds},
                              {"certificate", nullptr},
                              {"reason", nullptr}};
  if (found.influence.size() > 0) {
    json["influence"] = nlohmann::ordered_json::array();
    for (std::int64_t variable = 0; variable < found.influence.size(); ++variable) {
      const auto shares = found.influence[variable];
      json["influence"].push_back(std::vector(shares.begin(), shares.end()));
    }
  }
  if (found.tables) {
    json["found"] = "tables";
    for (const auto& table : found.tables->tables) json["tables"].push_back(table.variables);
  }
  if (found.automaton) {
    json["found"] = "automaton";
    json["order"] = found.automaton->reading().read();
    json["order_by"] = found.order_by;
    json["states"] = found.automaton->widths();
    json["widest"] = std::ranges::max(found.automaton->widths());
    json["kinds"] = found.automaton->reading().kinds();
  }
  if (const auto& certificate = found.certificate) {
    json["certificate"] = {{"draws", certificate->draws},
                           {"differing", certificate->differing},
                           {"level", certificate->level},
                           {"bound", certificate->bound},
                           {"beliefs", certificate->beliefs}};
  }
  if (!found.reason.empty()) json["reason"] = found.reason;
  return json;
}

void discover_one(const DiscoverFlags& flags) {
  const auto context = flags.common.context();
  const auto subject = subject_of(flags, context);
  const auto found = discover(*subject.problem, flags.options, flags.seed, subject.source, context.say);
  if (flags.common.json) {
    print_json(json_of(subject, found));
  } else {
    std::cout << words_of(subject, found);
  }
  std::cout.flush();
  if (flags.svg.empty()) return;
  // What was found is told already, whether or not it can be drawn.
  if (!found.automaton) return context.say("--svg: no automaton was found, so nothing is drawn");
  write_file_atomically(flags.svg, draw_automaton(*found.automaton, {.title = subject.task}));
  context.say(fmt::format("drawn in {}", flags.svg));
}

}  // namespace

void add_discover(CLI::App& app, int&) {
  auto* command = app.add_subcommand("discover", "what must a function remember? found by asking it alone");
  auto flags = std::make_shared<DiscoverFlags>();
  auto& limits = flags->options.limits;
  command->add_option("TARGET", flags->target, "a task, or a run directory")->required();
  command->add_option("--set", flags->settings, "an option of the task, name=value; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--seed", flags->seed, "decides every random draw (default 0)")->check(seed_number());
  command->add_option("--seconds", limits.seconds, "time after which it is given up (default 20)")
      ->check(real_number(0.1, 1e6));
  command->add_option("--states", limits.states, "states that a memory may have at any time (default 4096)")
      ->check(whole_number(1, 1'000'000));
  command->add_option("--calls", limits.calls, "calls of the function after which it is given up (default 200000000)")
      ->check(whole_number(1000, 1'000'000'000'000));
  command->add_option("--draws", flags->options.draws, "worlds that the certificate is drawn from (default 30000)")
      ->check(whole_number(100, 100'000'000));
  command->add_option("--svg", flags->svg, "draw the automaton into this file, if it has at most 24 states at a time");
  flags->common.add_to(*command);
  command->footer(
      "Whatever else the task says of its function is not looked at. Variables w and outputs y count from 0.\n"
      "Of a run, worlds are drawn from what its perception believes of training inputs.\n"
      "Exits with 0 also where nothing is found: that is an answer.\n"
      "Examples:\n  anesi discover mnist-add --set task.digits=4 --svg carry.svg\n"
      "  anesi discover visual-sudoku --seconds 60\n  anesi discover runs/four --json");
  command->callback([flags] { discover_one(*flags); });
}

}  // namespace anesi::cli
