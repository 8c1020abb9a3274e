// anesi check: is a problem well posed, and how good is a run's q?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "anesi/check/model_check.h"
#include "anesi/check/problem_check.h"
#include "anesi/cli/command.h"
#include "anesi/cli/progress_display.h"
#include "anesi/core/beliefs.h"
#include "anesi/core/seeded.h"
#include "anesi/exact/exact_model.h"
#include "anesi/models/beam.h"
#include "anesi/models/sample.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/pruners/learned_pruning.h"
#include "anesi/search/consistent_worlds.h"

namespace anesi::cli {
namespace {

struct CheckFlags {
  CommonFlags common;
  std::string target;
  std::vector<std::string> settings;
  std::int64_t beliefs = 200, samples = 100, seed = 0;
};

// The report of both kinds of check, as lines for people and keys for programs.
class Report {
 public:
  Report() {
    for (const auto* key : {"pruner_exact", "tv_prior", "tv_perceived", "kl_prior", "kl_perceived", "mpe_agreement",
                            "satisfied", "exploitable"}) {
      json_[key] = nullptr;
    }
    json_["notes"] = nlohmann::ordered_json::array();
  }

  void set(const std::string& key, nlohmann::ordered_json value) { json_[key] = std::move(value); }
  void line(bool good, const std::string& what, const std::string& words) {
    json_["notes"].push_back(fmt::format("{}: {}", what, words));
    text_ += fmt::format("{}  {:<24} {}\n", good ? "ok  " : "BAD ", what, words);
    good_ = good_ && good;
  }

  bool good() const { return good_; }
  std::string text() const { return text_; }
  std::string json() const { return json_.dump() + "\n"; }

 private:
  nlohmann::ordered_json json_;
  std::string text_;
  bool good_ = true;
};

void examine_problem(const Problem& problem, std::uint64_t seed, Report& report) {
  const auto findings = check_problem(problem, seed);
  for (const auto& finding : findings) report.line(finding.good, finding.name, finding.words);
  const auto pruner = problem.pruner();
  if (const auto good = pruner_exact(findings)) report.set("pruner_exact", *good && pruner->is_exact());
}

std::string in_words(double distance) {
  return distance < 0.01 ? "nearly exact" : distance < 0.1 ? "close" : distance < 0.4 ? "rough" : "far off";
}

// q against exact inference on some beliefs; "prior" or "perceived".
void examine_distance(SequenceModel& prediction, const Problem& problem, const ExactInference& exact,
                      const torch::Tensor& beliefs, const std::string& name, const CheckFlags& flags,
                      const at::Generator& generator, Report& report) {
  const auto distance = sampled_distance(prediction, problem, exact, beliefs, flags.samples, generator);
  report.set("tv_" + name, distance.total_variation);
  report.set("kl_" + name, distance.divergence);
  report.line(
      true, fmt::format("q, {}", name),
      fmt::format("total variation {:.4f}, KL {:.4f} nats from exact on {} beliefs: {}", distance.total_variation,
                  distance.divergence, beliefs.size(0), in_words(distance.total_variation)));
}

void examine_certificate(SequenceModel& prediction, const Problem& problem, const torch::Tensor& beliefs,
                         const std::string& name, const CheckFlags& flags, const at::Generator& generator,
                         Report& report) {
  const auto certificate = certify(prediction, problem, beliefs, flags.samples, generator);
  report.set("certificate_" + name, {{"mean", certificate.mean},
                                     {"margin", certificate.margin},
                                     {"largest", certificate.bounds.max().item<double>()}});
  const auto worst = certificate.bounds.argmax().item<std::int64_t>();
  report.line(true, fmt::format("certificate, {}", name),
              fmt::format("total variation at most {:.5f} ± {:.5f} on average (95 %), {:.5f} ± {:.5f} at worst, "
                          "whatever the exact answer",
                          certificate.mean, certificate.margin, certificate.bounds[worst].item<double>(),
                          certificate.margins[worst].item<double>()));
}

// The search for the most probable world behind the output that all labels are about: its time and, where that output's
// circuit compiles, whether it finds what exact inference does.
void examine_search(const SavedModel& saved, const torch::Tensor& beliefs, Report& report) {
  const auto& problem = *saved.task.problem;
  const auto outputs = torch::tensor(saved.task.question).unsqueeze(0);
  const auto& limits = saved.configuration->eval.limits;
  std::vector<double> times;
  std::vector<torch::Tensor> gaps, proofs;
  std::int64_t found = 0;
  for (std::int64_t row = 0; row < beliefs.size(0); ++row) {
    const auto start = std::chrono::steady_clock::now();
    const auto world = most_probable_worlds(problem, beliefs.slice(0, row, row + 1), outputs, limits);
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    gaps.push_back(world.gap);
    found += world.gap.isfinite().item<bool>() ? 1 : 0;
    proofs.push_back(world.proven);
  }
  const auto proven = torch::cat(proofs);
  std::sort(times.begin(), times.end());
  const auto median = times[times.size() / 2];
  report.set("search_ms", median);
  report.line(
      true, "search",
      fmt::format(
          "{:.3f} ms in the median, {:.2f} at most; a world within {:.0f} nats for {} of {} inputs, gave up on {}",
          median, times.back(), limits.nats, found, beliefs.size(0), proven.logical_not().sum().item<std::int64_t>()));
  try {
    constexpr double kSeconds = 20;
    const auto exact = make_exact(problem, "conditioned", kSeconds)
                           ->most_probable(beliefs, outputs.expand({beliefs.size(0), -1}).contiguous());
    const auto likely = beliefs.amax(2).to(torch::kFloat64).log().sum(1);
    const auto gap = likely - exact.log_prob, searched = torch::cat(gaps);
    const auto agrees = torch::where(searched.isfinite(), (searched - gap).abs() < 1e-4, gap > limits.nats);
    // Where the search gave up, it promises nothing.
    const auto promised = agrees.index({proven}).to(torch::kFloat64);
    const auto share = promised.numel() > 0 ? promised.mean().item<double>() : 1;
    report.set("search_agreement", share);
    report.line(
        share == 1, "search, exact",
        fmt::format("the most probable world of exact inference for {:.2f} % of the {} inputs it did not give up on",
                    100 * share, promised.numel()));
  } catch (const Error& error) {
    report.line(true, "search, exact", fmt::format("not compared: {}", error.what()));
  }
}

constexpr std::int64_t kExploitWorlds = 200;

bool examine_exploits(SequenceModel& prediction, const Task& task, const Problem& problem, const torch::Tensor& worlds,
                      const torch::Tensor& queries, const std::string& title, Report& report) {
  const auto exploits = check_exploits(prediction, problem, worlds, queries, task.name_value);
  auto key = title;
  std::erase(key, ',');
  std::replace(key.begin(), key.end(), ' ', '_');
  report.set(key, {{"truth", exploits.truth}, {"cheapest", exploits.cheapest_loss}, {"cheaper", exploits.cheaper}});
  report.line(
      !exploits.exploitable(), title,
      fmt::format("loss {:.4f} at the truth, {:.4f} at the cheapest mistake ({}): {}", exploits.truth,
                  exploits.cheapest_loss, exploits.cheapest,
                  exploits.exploitable() ? fmt::format("perception gains by {}", fmt::join(exploits.cheaper, ", "))
                                         : "the truth is cheapest"));
  return exploits.exploitable();
}

torch::Tensor uniform_worlds(const Problem& problem, at::Generator generator) {
  return sample_worlds(uniform_beliefs(kExploitWorlds, problem.worlds()), std::move(generator));
}

// An output that all labels are about needs no exact inference of others; a circuit of the whole function takes long to
// compile, or for ever.
std::unique_ptr<ExactInference> exact_at_hand(const Task& task, Report& report) {
  constexpr double kSeconds = 10;
  auto exact = task.question.empty() ? find_exact(*task.problem, kSeconds) : nullptr;
  if (!exact) report.line(true, "exact inference", "not at hand for this problem; q cannot be compared with it");
  return exact;
}

// q as the task's preset learns it from c alone, before any perception.
void examine_q(const Configuration& configuration, const Task& task, const CheckFlags& flags, Report& report) {
  const auto steps = configuration.q.updates_alone();
  if (steps == 0 || configuration.loss == "exact" || configuration.loss == "rloo") {
    report.line(true, "q", "is not learned before perception with these options; check a run to examine it");
    return;
  }
  const auto& problem = *task.problem;
  const auto& learned = configuration.train.pieces && task.piece ? *task.piece : problem;
  const auto model = configuration.make_model(problem);
  const auto generator = seeded(static_cast<std::uint64_t>(flags.seed));
  {
    AmortizedLoss loss(learned, model, make_prior(learned.worlds(), configuration.prior), configuration.q.amortized,
                       steps, generator);
    ProgressDisplay display;
    double sum = 0;
    for (std::int64_t step = 1; step <= steps; ++step) {
      sum += loss.update();
      display.update({.phase = "q", .step = step, .steps = steps, .q_loss = sum / static_cast<double>(step)});
    }
  }
  auto& prediction = *model.prediction;
  const auto beliefs = FixedDirichlet(problem.worlds(), 0.2).sample(flags.beliefs, generator);
  if (const auto exact = exact_at_hand(task, report)) {
    examine_distance(prediction, problem, *exact, beliefs, "prior", flags, generator, report);
  }
  if (prediction.multilinear()) examine_certificate(prediction, problem, beliefs, "prior", flags, generator, report);
  bool exploitable =
      examine_exploits(prediction, task, problem, uniform_worlds(problem, generator), {}, "exploits", report);
  const auto prior_worlds = [&](const Problem& of) {
    return make_prior(of.worlds(), configuration.prior)->sample_with_worlds(kExploitWorlds, generator).worlds;
  };
  exploitable |= examine_exploits(prediction, task, problem, prior_worlds(problem), {}, "exploits, prior", report);
  if (&learned != &problem) {
    const auto queries = learned.draw_queries(kExploitWorlds, generator);
    exploitable |=
        examine_exploits(prediction, task, learned, prior_worlds(learned), queries, "exploits, pieces", report);
  }
  report.set("exploitable", exploitable);
}

void examine_run(const SavedModel& saved, const Dataset& data, const CheckFlags& flags, Report& report) {
  const auto& problem = *saved.task.problem;
  const auto generator = seeded(static_cast<std::uint64_t>(flags.seed));
  const auto examples = std::min(data.size(), flags.beliefs);
  const auto perceived = saved.beliefs(data.batch(0, examples).inputs);
  const auto prior = FixedDirichlet(problem.worlds(), 0.2).sample(flags.beliefs, generator);
  const auto degenerate =
      torch::cat({uniform_beliefs(1, problem.worlds()),
                  certain_beliefs(sample_worlds(uniform_beliefs(20, problem.worlds()), generator), problem.worlds())});
  if (!saved.task.question.empty()) examine_search(saved, perceived, report);
  if (!saved.model.prediction->has_rollouts()) {
    report.line(true, "q", "is exact inference on the output that labels are about; there is nothing else to examine");
    return;
  }
  const auto predicted =
      beam_search(*saved.model.prediction, perceived, saved.configuration->eval.beam, saved.pruning.get())
          .values.select(1, 0)
          .contiguous();
  auto& prediction = *saved.model.prediction;
  if (const auto exact = exact_at_hand(saved.task, report)) {
    examine_distance(prediction, problem, *exact, prior, "prior", flags, generator, report);
    examine_distance(prediction, problem, *exact, perceived, "perceived", flags, generator, report);
    examine_distance(prediction, problem, *exact, degenerate, "degenerate", flags, generator, report);
    if (saved.model.explanation) {
      const auto agreement = mpe_agreement(*saved.model.explanation, *exact, {perceived, predicted},
                                           saved.configuration->eval.beam, saved.pruning.get());
      report.set("mpe_agreement", agreement);
      report.line(
          true, "explanations",
          fmt::format("the most probable one is the exact one for {:.2f} % of {} inputs", 100 * agreement, examples));
    }
  }
  if (prediction.multilinear()) {
    examine_certificate(prediction, problem, prior, "prior", flags, generator, report);
    examine_certificate(prediction, problem, perceived, "perceived", flags, generator, report);
  }
  if (saved.model.explanation) {
    double satisfied = 0;
    const auto draws = std::max<std::int64_t>(1, flags.samples / 10);
    for (std::int64_t draw = 0; draw < draws; ++draw) {
      const auto worlds =
          sample(*saved.model.explanation, {perceived, predicted}, generator, saved.pruning.get()).values;
      satisfied += (problem.apply_batch(worlds) == predicted).all(1).to(torch::kFloat64).mean().item<double>();
    }
    satisfied /= static_cast<double>(draws);
    report.set("satisfied", satisfied);
    report.line(!saved.pruner || satisfied == 1, "guarantee",
                fmt::format("{:.2f} % of {} sampled worlds give the predicted output, {} pruning", 100 * satisfied,
                            draws * examples, saved.pruning ? "with" : "without"));
    constexpr double kThreshold = 1e-4;
    const auto wrong = false_prunes(*saved.model.explanation, problem, kThreshold, 1000, generator);
    report.set("false_prunes", wrong.by_world);
    report.line(
        true, "learned pruning",
        fmt::format("below {} at the uniform belief it would lose {:.2f} % of true worlds ({:.4f} % of choices)",
                    kThreshold, 100 * wrong.by_world, 100 * wrong.by_choice));
  }
  bool exploitable =
      examine_exploits(prediction, saved.task, problem, uniform_worlds(problem, generator), {}, "exploits", report);
  // Worlds as they come, where they are known: what is rare in them q may get wrong unpunished.
  if (saved.task.piece && saved.configuration->train.pieces) {
    const auto pieces = saved.task.draw_pieces(data, torch::arange(examples), generator);
    exploitable |= examine_exploits(prediction, saved.task, *saved.task.piece, pieces.worlds,
                                    pieces.observations.queries, "exploits, pieces", report);
  }
  const auto worlds = data.worlds.slice(0, 0, examples);
  if (!(worlds == kUnset).any().item<bool>()) {
    exploitable |= examine_exploits(prediction, saved.task, problem, worlds, {}, "exploits, data", report);
  }
  report.set("exploitable", exploitable);
}

int check(const CheckFlags& flags) {
  const auto context = flags.common.context();
  Report report;
  if (tasks().contains(flags.target) && !std::filesystem::exists(flags.target)) {
    Configuration configuration(flags.target);
    for (const auto& setting : flags.settings) configuration.table().set(setting);
    const auto task = configuration.make_task(context);
    examine_problem(*task.problem, static_cast<std::uint64_t>(flags.seed), report);
    examine_q(configuration, task, flags, report);
  } else {
    if (!std::filesystem::exists(flags.target)) {
      throw UsageError(fmt::format("{}: neither a task nor a run; `anesi tasks` lists the tasks", flags.target));
    }
    if (!flags.settings.empty()) throw UsageError("--set is for checking a task; a run has its options already");
    const auto saved = load_run(flags.target, context);
    const auto data = saved.load_data();
    examine_problem(*saved.task.problem, static_cast<std::uint64_t>(flags.seed), report);
    examine_run(saved, data.test, flags, report);
  }
  std::cout << (flags.common.json ? report.json() : report.text());
  return report.good() ? 0 : kFailed;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "check", "is a problem well posed, its pruner exact, its q near to exact and safe to learn through?");
  auto flags = std::make_shared<CheckFlags>();
  command->add_option("TARGET", flags->target, "a task, or a run directory")->required();
  command->add_option("--set", flags->settings, "an option of the task, name=value; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--beliefs", flags->beliefs, "how many beliefs to look at (default 200)")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--samples", flags->samples, "outputs or worlds sampled for each (default 100)")
      ->check(CLI::Range(2, 1000000));
  command->add_option("--seed", flags->seed, "decides every random draw (default 0)")->check(CLI::NonNegativeNumber);
  flags->common.add_to(*command);
  command->footer(
      "Of a task, q is learned from c alone as the default preset says; --set q.pretrain=0 leaves that out.\n"
      "Exits with 1 where something is wrong.\n"
      "Examples:\n  anesi check mnist-add --set task.digits=2\n  anesi check warcraft --set task.size=30\n  anesi "
      "check runs/four --json");
  command->callback([flags, &exit_code] { exit_code = check(*flags); });
}

}  // namespace anesi::cli
