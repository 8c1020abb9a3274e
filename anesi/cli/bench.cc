// anesi bench: how long the parts of training and inference take, beside a plain PyTorch implementation where asked.
//
// Inputs are random images, for time does not depend on what they show. Times are means over as many repetitions as fit
// into --seconds. With --reference, the script's times of the same parts are measured in the same run, one size after
// the other, so that the ratios mean something on a machine that others use too.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <iostream>

#include "anesi/cli/bench_discover.h"
#include "anesi/cli/bench_divergences.h"
#include "anesi/cli/bench_formulas.h"
#include "anesi/cli/bench_gradients.h"
#include "anesi/cli/bench_grid.h"
#include "anesi/cli/bench_inference.h"
#include "anesi/cli/bench_markov.h"
#include "anesi/cli/bench_orders.h"
#include "anesi/cli/bench_priors.h"
#include "anesi/cli/command.h"
#include "anesi/cli/numbers.h"
#include "anesi/cli/time_of.h"
#include "anesi/core/pruner.h"
#include "anesi/models/beam.h"
#include "anesi/run/training.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/image_examples.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/train/perception_step.h"

namespace anesi::cli {
namespace {

struct BenchFlags {
  CommonFlags common;
  std::string name, reference, python = "python3";
  std::vector<std::int64_t> digits;
  double seconds = 2;
  std::string svg;
  std::optional<std::int64_t> trainings;
};

// Random images with labels that are sums of nothing in particular: enough to time with.
Splits random_data(const Problem& problem, std::int64_t examples) {
  const auto variables = problem.worlds().variables();
  const auto worlds = torch::randint(10, {examples, variables}, torch::kInt64);
  const auto data = std::make_shared<ImageExamples>(
      torch::randint(256, {examples * variables, 28, 28}, torch::kUInt8),
      torch::arange(examples * variables, torch::kInt64).view({examples, variables}), apply(problem, worlds), worlds);
  return {.train = data, .validation = nullptr, .test = data};
}

// A training of one preset at one size, with everything a part of its step needs.
struct Bench {
  Bench(const std::string& preset, std::int64_t digits, const std::vector<std::string>& settings)
      : configuration("mnist-add", preset) {
    configuration.table().set("task.digits", std::to_string(digits));
    for (const auto& setting : settings) configuration.table().set(setting);
    task = configuration.make_task({});
    training = std::make_unique<Training>(configuration, task, random_data(*task.problem, 64));
    amortized = dynamic_cast<AmortizedLoss*>(training->learner().loss.get());
    rows = torch::arange(configuration.train.batch_size(task.problem->worlds()), torch::kInt64);
    plan.rate = configuration.train.schedule.at(0, 1);
    if (amortized != nullptr && !configuration.q.frozen) plan.q_rate = configuration.q.schedule.at(0, 1);
    // Fill the prior's window, as it is after the first steps of a training run.
    const torch::NoGradGuard no_gradients;
    const auto beliefs = learner().perception->forward(data().batch(0, 64).inputs);
    few_beliefs = beliefs.slice(0, 0, rows.size(0)).clone();
    if (amortized == nullptr) return;
    for (int repeat = 0; repeat < 40; ++repeat) amortized->prior().observe(beliefs);
    q_beliefs = amortized->prior().sample(configuration.q.amortized.samples, generator);
    q_worlds = sample_worlds(q_beliefs, generator);
    q_outputs = apply(*task.problem, q_worlds);
  }

  Learner& learner() const { return training->learner(); }
  const Examples& data() const { return *training->data().train; }

  Configuration configuration;
  Task task;
  std::unique_ptr<Training> training;
  AmortizedLoss* amortized = nullptr;  // the training's loss, where it is that
  StepPlan plan;
  torch::Tensor few_beliefs;  // of one batch, as perception emits them
  torch::Tensor rows, q_beliefs, q_worlds, q_outputs;
  at::Generator generator = seeded(1);
};

using Body = std::function<void(Bench&)>;

void observe_and_fit(Bench& bench) {
  const torch::NoGradGuard no_gradients;
  auto& prior = bench.amortized->prior();
  prior.observe(uniform_beliefs(bench.rows.size(0), bench.task.problem->worlds()));
  prior.fit();
}

void sample_beliefs(Bench& bench) {
  const auto beliefs = bench.amortized->prior().sample(bench.configuration.q.amortized.samples, bench.generator);
  apply(*bench.task.problem, sample_worlds(beliefs, bench.generator));
}

void query(Bench& bench) {
  const torch::InferenceMode inference;
  const auto beliefs = bench.learner().perception->forward(bench.data().batch(0, 1).inputs);
  beam_search(*bench.learner().model.prediction, beliefs, 1);
}

// The exact loss of a batch and its gradient by the beliefs, without perception.
void exact_loss(Bench& bench) {
  auto beliefs = bench.few_beliefs.detach().requires_grad_(true);
  const auto outputs = bench.data().labels().outputs.slice(0, 0, beliefs.size(0));
  (-bench.learner().model.prediction->log_prob(beliefs, outputs).mean()).backward();
}

// One question to the pruner, half-way through a world.
void prune_step(Bench& bench) {
  const auto& output = bench.data().labels().outputs;
  const auto variables = bench.task.problem->worlds().variables();
  std::vector<std::int64_t> partial(static_cast<std::size_t>(variables), kUnset);
  const auto* const world = bench.data().worlds().const_data_ptr<std::int64_t>();
  std::copy(world, world + variables / 2, partial.begin());
  std::array<bool, 10> mask{};
  bench.task.problem->facts().find<Pruner>()->allow_worlds(row_of(output, 0), partial, variables / 2, mask);
}

struct Part {
  std::string name, against;  // of the reference, without its size
  std::string preset;
  std::vector<std::string> settings;
  Body body;
};

std::vector<Part> parts() {
  const Body q_step = [](Bench& bench) {
    bench.amortized->update_on({bench.q_beliefs, bench.q_worlds, bench.q_outputs},
                               bench.configuration.q.schedule.at(0, 1));
  };
  const Body step = [](Bench& bench) { perception_step(bench.learner(), bench.rows, bench.plan); };
  return {
      {"dirichlet_fit", "dirichlet_fit", "paper", {}, observe_and_fit},
      {"dirichlet_sample", "dirichlet_sample", "paper", {}, sample_beliefs},
      {"q_step", "q_step", "paper", {}, q_step},
      {"q_step_bf16", "q_step", "paper", {"train.precision=bf16"}, q_step},
      {"perception_step", "perception_step", "paper", {"q.frozen=true"}, step},
      {"step", "step", "paper", {}, step},
      {"step_bf16", "step", "paper", {"train.precision=bf16"}, step},
      {"step_default", "step", "default", {"train.batch=16"}, step},
      {"exact_step", "step", "default", {"loss=exact", "train.batch=16"}, step},
      {"exact_loss", "", "default", {"loss=exact", "train.batch=16"}, exact_loss},
      {"prune_step", "", "default", {}, prune_step},
      {"query_paper", "query", "paper", {}, query},
      {"query", "query", "default", {}, query},
  };
}

double time_part(const Part& part, std::int64_t digits, double seconds) {
  Bench bench(part.preset, digits, part.settings);
  return time_of(seconds, [&] { part.body(bench); });
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char letter : text) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

// The reference's times of one size, by name.
nlohmann::json run_reference(const BenchFlags& flags, std::int64_t digits) {
  auto command = fmt::format("{} {} --json --digits {} --seconds {}", shell_quoted(flags.python),
                             shell_quoted(flags.reference), digits, flags.seconds);
  if (flags.common.threads > 0) command += fmt::format(" --threads {}", flags.common.threads);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  std::array<char, 4096> buffer{};
  while (pipe && fgets(buffer.data(), static_cast<int>(buffer.size()), pipe.get()) != nullptr) output += buffer.data();
  auto json = nlohmann::json::parse(output, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw Error(fmt::format("{}: did not print a JSON object; was torch found?", flags.reference));
  return json;
}

void bench(const BenchFlags& flags) {
  flags.common.context();
  if (flags.name == "inference") return bench_inference(flags.digits, flags.seconds, flags.common.json, flags.svg);
  if (flags.name == "grid") return bench_grid(flags.seconds, flags.common.json);
  if (flags.name == "gradients") return bench_gradients(flags.trainings.value_or(20), flags.common.json, flags.svg);
  if (flags.name == "divergences") return bench_divergences(flags.common.json, flags.svg);
  if (!flags.svg.empty()) throw UsageError("--svg draws `anesi bench inference`, `gradients` or `divergences`");
  if (flags.name == "discover") return bench_discover(flags.common.json);
  if (flags.name == "orders") return bench_orders(flags.trainings.value_or(2), flags.common.json);
  if (flags.name == "formulas") return bench_formulas(flags.common.json);
  if (flags.name == "markov") return bench_markov(flags.common.json);
  if (flags.name == "priors") return bench_priors(flags.common.json);
  if (std::ranges::none_of(parts(), [&](const Part& part) { return part.name.starts_with(flags.name); })) {
    throw UsageError(fmt::format("there is no part {}; `anesi bench` times all of them", flags.name));
  }
  auto results = nlohmann::ordered_json::array();
  if (!flags.common.json)
    std::cout << fmt::format("{:<24}{:>14}{:>14}{:>10}\n", "", "milliseconds", "reference", "ratio");
  for (const auto digits : flags.digits.empty() ? std::vector<std::int64_t>{1, 4, 15} : flags.digits) {
    const auto reference = flags.reference.empty() ? nlohmann::json() : run_reference(flags, digits);
    for (const auto& part : parts()) {
      if (!part.name.starts_with(flags.name)) continue;
      const auto name = fmt::format("{}/{}", part.name, digits), against = fmt::format("{}/{}", part.against, digits);
      const auto seconds = time_part(part, digits, flags.seconds);
      nlohmann::ordered_json row{{"name", name}, {"seconds", seconds}, {"ratio", nullptr}, {"against", nullptr}};
      std::string theirs = "-", ratio = "-";
      if (reference.contains(against)) {
        const auto other = reference[against].get<double>();
        row["ratio"] = other / seconds;
        row["against"] = "pytorch " + against;
        theirs = fmt::format("{:.3f}", 1000 * other);
        ratio = fmt::format("{:.2f}x", other / seconds);
      }
      results.push_back(row);
      if (!flags.common.json) {
        std::cout << fmt::format("{:<24}{:>14.4f}{:>14}{:>10}\n", name, 1000 * seconds, theirs, ratio) << std::flush;
      }
    }
  }
  if (flags.common.json) print_json(nlohmann::ordered_json{{"parts", results}});
}

}  // namespace

void add_bench(CLI::App& app, int&) {
  auto* command = app.add_subcommand("bench", "time the parts of training and inference");
  auto flags = std::make_shared<BenchFlags>();
  command->add_option("NAME", flags->name, "only parts whose name starts like this");
  command
      ->add_option("--digits", flags->digits, "sizes of mnist-add (default 1 4 15; for inference 1 to 15, 50 and 100)")
      ->check(whole_number(1, 1000));
  command->add_option("--seconds", flags->seconds, "time spent on a part")->check(real_number(0.01, 600.0));
  command->add_option("--reference", flags->reference, "bench/pytorch_reference.py: times it too and prints ratios")
      ->check(CLI::ExistingFile);
  command->add_option("--python", flags->python, "the Python that has torch");
  command->add_option("--svg", flags->svg, "draw `anesi bench inference`, `gradients` or `divergences` into this file");
  command
      ->add_option("--trainings", flags->trainings,
                   "of each estimator in `anesi bench gradients` (default 20), of each model in `anesi bench orders` "
                   "(default 2)")
      ->check(whole_number(2, 1000));
  flags->common.add_to(*command);
  command->footer(
      "`anesi bench inference` times one query against the number of digits, for q and for exact inference.\n"
      "`anesi bench grid` times path planning: maps solved, and the sweeps of the learned planner.\n"
      "`anesi bench discover` asks functions of many kinds what they remember: states, calls, seconds, certificate.\n"
      "`anesi bench formulas` trains one graph network on random formulas and counts the models of others with it.\n"
      "`anesi bench gradients` compares estimators of gradients on four functions: bias, variance, calls (minutes).\n"
      "`anesi bench markov` does so with weighted formulas, and finds their weights again from worlds.\n"
      "`anesi bench divergences` learns one small q by each objective of appendix E: exact KL both ways against "
      "steps.\n"
      "`anesi bench orders` learns to explain random formulas, choosing variables in one order or in any.\n"
      "`anesi bench priors` trains light-curtain with each prior and compares q with exact inference where perception "
      "looks.\n"
      "step is the paper preset's whole training step; ratio: how many times faster than the reference.\n"
      "Examples:\n  anesi bench query --digits 15\n"
      "  anesi bench --reference bench/pytorch_reference.py --python .venv/bin/python");
  command->callback([flags] { bench(*flags); });
}

}  // namespace anesi::cli
