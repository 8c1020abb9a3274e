#include "anesi/check/run_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "anesi/check/model_check.h"
#include "anesi/core/asked_output.h"
#include "anesi/core/error.h"
#include "anesi/core/known_variables.h"
#include "anesi/core/pruner.h"
#include "anesi/discover/discover.h"
#include "anesi/exact/found_facts.h"
#include "anesi/models/exact_model.h"
#include "anesi/models/learned_pruning.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/run/training.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/consistent_worlds.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/tensors/worlds.h"
#include "anesi/train/train.h"

namespace anesi {
namespace {

void examine_problem(const Problem& problem, std::uint64_t seed, CheckReport& report) {
  const auto findings = check_problem(problem, seed);
  for (const auto& finding : findings) report.line(finding.good, finding.name, finding.words);
  if (const auto good = pruner_exact(findings)) {
    report.set("pruner_exact", *good && problem.facts().find<Pruner>()->is_exact());
  }
}

std::string in_words(double distance) {
  return distance < 0.01 ? "nearly exact" : distance < 0.1 ? "close" : distance < 0.4 ? "rough" : "far off";
}

// q against exact inference on some beliefs; "prior" or "perceived".
void examine_distance(SequenceModel& prediction, const Problem& problem, const ExactInference& exact,
                      const torch::Tensor& beliefs, const std::string& name, const CheckOptions& options,
                      const at::Generator& generator, CheckReport& report) {
  const auto distance = sampled_distance(prediction, problem, exact, beliefs, options.samples, generator);
  report.set("tv_" + name, distance.total_variation);
  report.set("kl_" + name, distance.divergence);
  report.line(
      true, fmt::format("q, {}", name),
      fmt::format("total variation {:.4f}, KL {:.4f} nats from exact on {} beliefs: {}", distance.total_variation,
                  distance.divergence, beliefs.size(0), in_words(distance.total_variation)));
}

void examine_certificate(SequenceModel& prediction, const Problem& problem, const torch::Tensor& beliefs,
                         const std::string& name, const CheckOptions& options, const at::Generator& generator,
                         CheckReport& report) {
  const auto certificate = certify(prediction, problem, beliefs, options.samples, generator);
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

// What was found by asking c, against c on worlds of the beliefs that perception emits.
void examine_found(const Problem& problem, const torch::Tensor& beliefs, const at::Generator& generator,
                   CheckReport& report) {
  constexpr std::int64_t kDraws = 10000;
  const auto* const found = problem.facts().find<FoundFacts>();
  const WorldSource source{worlds_of_beliefs(beliefs), "beliefs that perception emits"};
  Random random(draw_seed(generator));
  const auto bound = found != nullptr ? certify_facts(problem, source, kDraws, random) : std::nullopt;
  if (!bound) return;
  report.set(
      "certificate_found",
      {{"draws", bound->draws}, {"differing", bound->differing}, {"level", bound->level}, {"bound", bound->bound}});
  report.line(
      true, "certificate, found",
      fmt::format("what was found differs from c on at most {:.2e} of worlds of {} ({:.0f} %; {} of {} drawn){}",
                  bound->bound, bound->beliefs, 100 * bound->level, bound->differing, bound->draws,
                  found->automaton ? "" : "; a bound for each output by itself"));
}

// The search for the most probable world behind the output that all labels are about: its time and, where that output's
// circuit compiles, whether it finds what exact inference does.
void examine_search(const Predictor& predictor, const AskedOutput& asked, const torch::Tensor& beliefs,
                    CheckReport& report) {
  const auto& problem = predictor.problem();
  const auto outputs = tensor_of(asked.output).unsqueeze(0);
  const auto& limits = predictor.options().limits;
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
    const auto exact = make_exact(problem, {.method = "conditioned", .seconds = kSeconds})
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
                      const std::string& title, CheckReport& report) {
  const auto exploits = check_exploits(prediction, problem, worlds,
                                       [&](std::int64_t value) { return task.presentation->value(0, value); });
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
std::unique_ptr<ExactInference> exact_at_hand(const Problem& problem, CheckReport& report) {
  constexpr double kSeconds = 10;
  auto exact = problem.facts().find<AskedOutput>() == nullptr ? find_exact(problem, kSeconds) : nullptr;
  if (!exact) report.line(true, "exact inference", "not at hand for this problem; q cannot be compared with it");
  return exact;
}

// At what rate training would have q learn. How many examples there are matters only where q learns beside perception
// on one schedule.
QSchedule schedule_of(const Configuration& configuration, const Task& task) {
  const auto& q = configuration.q;
  const auto batch = configuration.train.batch_size(task.problem->worlds());
  const auto examples = q.frozen || q.joint_lr > 0 ? batch : task.load().train->size();
  return q_schedule(configuration.train, q, configuration.refine, /*q_learns=*/true, examples, batch);
}

// q as training learns it from c alone, before any perception.
void examine_q(const Configuration& configuration, const Task& task, const CheckOptions& options,
               const std::function<void(const Progress&)>& on_step, CheckReport& report) {
  const auto steps = configuration.q.updates_alone();
  const auto& entry = configuration.loss_entry();
  if (configuration.discovers(*task.problem)) {
    const auto found = discover(*task.problem, configuration.discover, options.seed);
    report.set("found", found.automaton ? "automaton" : found.tables ? "tables" : "");
    const auto what = found.automaton ? fmt::format("a memory of {} states", found.automaton->states()) : "tables";
    report.line(
        true, "discovery",
        found.certificate
            ? fmt::format("{} found with {} calls of c; differs from c on at most {:.2e} of worlds of {} ({:.0f} %)",
                          what, found.calls, found.certificate->bound, found.certificate->beliefs,
                          100 * found.certificate->level)
            : fmt::format("nothing found, so q is a network: {}", found.reason));
    return;
  }
  if (steps == 0 || !entry.learns_q) {
    report.line(true, "q", "is not learned before perception with these options; check a run to examine it");
    return;
  }
  const auto& problem = *task.problem;
  const auto pieces = shown_pieces(configuration, task);
  const auto learned = pieces ? pieces->problem : task.problem;
  const auto model = configuration.make_model(problem);
  const auto generator = seeded(options.seed);
  {
    const auto loss = entry.make({.problem = learned,
                                  .model = model,
                                  .make_prior = [&](const Space& worlds) { return configuration.make_prior(worlds); },
                                  .options = configuration.loss_options(),
                                  .generator = generator});
    const auto schedule = schedule_of(configuration, task);
    double sum = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
      sum += loss->learn({}, schedule.rate_alone(step)).value_or(0);
      if (on_step) {
        on_step({.phase = "q", .step = step + 1, .steps = steps, .q_loss = sum / static_cast<double>(step + 1)});
      }
    }
  }
  auto& prediction = *model.prediction;
  const auto beliefs = FixedDirichlet(problem.worlds(), 0.2).sample(options.beliefs, generator);
  if (const auto exact = exact_at_hand(problem, report)) {
    examine_distance(prediction, problem, *exact, beliefs, "prior", options, generator, report);
  }
  if (prediction.multilinear()) examine_certificate(prediction, problem, beliefs, "prior", options, generator, report);
  bool exploitable =
      examine_exploits(prediction, task, problem, uniform_worlds(problem, generator), "exploits", report);
  const auto prior_worlds = [&](const Problem& of) {
    const auto worlds =
        configuration.make_prior(perceived_space(of))->sample_with_worlds(kExploitWorlds, generator).worlds;
    const auto* const known = of.facts().find<KnownVariables>();
    return known == nullptr
               ? worlds
               : complete_worlds(*known, worlds, draw_known(*known, kExploitWorlds, generator), of.worlds());
  };
  exploitable |= examine_exploits(prediction, task, problem, prior_worlds(problem), "exploits, prior", report);
  if (learned != task.problem) {
    exploitable |= examine_exploits(prediction, task, *learned, prior_worlds(*learned), "exploits, pieces", report);
  }
  report.set("exploitable", exploitable);
}

void examine_run(const LoadedRun& run, const Examples& data, const CheckOptions& options, CheckReport& report) {
  const auto& predictor = run.predictor;
  const auto& problem = predictor.problem();
  const auto& model = predictor.model();
  const auto generator = seeded(options.seed);
  const auto examples = std::min(data.size(), options.beliefs);
  const auto batch = data.batch(0, examples);
  const auto perceived = predictor.beliefs(batch.inputs);
  const auto prior = FixedDirichlet(problem.worlds(), 0.2).sample(options.beliefs, generator);
  const auto degenerate =
      torch::cat({uniform_beliefs(1, problem.worlds()),
                  certain_beliefs(sample_worlds(uniform_beliefs(20, problem.worlds()), generator), problem.worlds())});
  if (const auto* const asked = problem.facts().find<AskedOutput>())
    examine_search(predictor, *asked, perceived, report);
  if (!predictor.chooses()) {
    report.line(true, "q", "is exact inference on the output that labels are about; there is nothing else to examine");
    return;
  }
  auto& prediction = *model.prediction;
  const auto predicted = predictor.predict(perceived, 1).outputs.select(1, 0).contiguous();
  if (const auto exact = exact_at_hand(problem, report)) {
    examine_distance(prediction, problem, *exact, prior, "prior", options, generator, report);
    examine_distance(prediction, problem, *exact, perceived, "perceived", options, generator, report);
    examine_distance(prediction, problem, *exact, degenerate, "degenerate", options, generator, report);
    if (model.explanation) {
      const auto agreement = mpe_agreement(*model.explanation, *exact, {perceived, predicted}, predictor.options().beam,
                                           predictor.pruning());
      report.set("mpe_agreement", agreement);
      report.line(
          true, "explanations",
          fmt::format("the most probable one is the exact one for {:.2f} % of {} inputs", 100 * agreement, examples));
    }
  }
  examine_found(problem, perceived, generator, report);
  if (prediction.multilinear()) {
    examine_certificate(prediction, problem, prior, "prior", options, generator, report);
    examine_certificate(prediction, problem, perceived, "perceived", options, generator, report);
  }
  if (model.explanation) {
    const auto draws = std::max<std::int64_t>(1, options.samples / 10);
    double satisfied = 0;
    for (std::int64_t draw = 0; draw < draws; ++draw) {
      const auto worlds = predictor.sample(perceived, predicted, 1, generator).squeeze(1);
      satisfied += (apply(problem, worlds) == predicted).all(1).to(torch::kFloat64).mean().item<double>();
    }
    satisfied /= static_cast<double>(draws);
    report.set("satisfied", satisfied);
    report.line(!predictor.prunes_symbolically() || satisfied == 1, "guarantee",
                fmt::format("{:.2f} % of {} sampled worlds give the predicted output, {} pruning", 100 * satisfied,
                            draws * examples, predictor.pruning() != nullptr ? "with" : "without"));
    constexpr double kThreshold = 1e-4;
    const auto wrong = false_prunes(*model.explanation, problem, kThreshold, 1000, generator);
    report.set("false_prunes", wrong.by_world);
    report.line(
        true, "learned pruning",
        fmt::format("below {} at the uniform belief it would lose {:.2f} % of true worlds ({:.4f} % of choices)",
                    kThreshold, 100 * wrong.by_world, 100 * wrong.by_choice));
  }
  bool exploitable =
      examine_exploits(prediction, run.task, problem, uniform_worlds(problem, generator), "exploits", report);
  // Worlds as they come, where they are known: what is rare in them q may get wrong unpunished.
  const bool knows_worlds = data.has_worlds() && !(data.worlds().slice(0, 0, examples) == kUnset).any().item<bool>();
  if (run.task.pieces && run.configuration->train.pieces && knows_worlds) {
    const auto pieces = run.task.pieces->draw(data, torch::arange(examples), generator);
    exploitable |=
        examine_exploits(prediction, run.task, *run.task.pieces->problem, pieces.worlds, "exploits, pieces", report);
  }
  if (knows_worlds) {
    exploitable |=
        examine_exploits(prediction, run.task, problem, data.worlds().slice(0, 0, examples), "exploits, data", report);
  }
  report.set("exploitable", exploitable);
}

}  // namespace

CheckReport check_task(const Configuration& configuration, const Task& task, const CheckOptions& options,
                       const std::function<void(const Progress&)>& on_step) {
  CheckReport report;
  examine_problem(*task.problem, options.seed, report);
  if (report.good()) examine_q(configuration, task, options, on_step, report);
  return report;
}

CheckReport check_run(const LoadedRun& run, const Examples& examples, const CheckOptions& options) {
  CheckReport report;
  examine_problem(*run.task.problem, options.seed, report);
  if (report.good()) examine_run(run, examples, options, report);
  return report;
}

}  // namespace anesi
