#include "anesi/discover/exact.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/exact/automaton.h"
#include "anesi/exact/found_facts.h"
#include "anesi/exact/saved_formula.h"
#include "anesi/io/safetensors.h"
#include "anesi/logic/compiled_formula.h"

namespace anesi {
namespace {

constexpr const char* kFormat = "anesi.exact.1";

std::int64_t rows_in(std::size_t numbers, const Space& worlds) {
  const auto row = as_size(worlds.variables() * worlds.largest_domain());
  if (row == 0 || numbers % row != 0) {
    throw Error(fmt::format("beliefs: {} numbers; each row has {} variables times {} values", numbers,
                            worlds.variables(), worlds.largest_domain()));
  }
  return static_cast<std::int64_t>(numbers / row);
}

template <typename Real>
std::vector<double> logs_of_probabilities(std::span<const Real> probabilities, const Space& worlds) {
  const auto rows = rows_in(probabilities.size(), worlds), width = worlds.largest_domain();
  std::vector<double> logs(probabilities.size(), kLogOfZero);
  for (std::int64_t place = 0; place < rows * worlds.variables(); ++place) {
    for (std::int64_t value = 0; value < worlds.domain(place % worlds.variables()); ++value) {
      const auto probability = static_cast<double>(probabilities[as_size(place * width + value)]);
      if (!(probability >= 0 && probability <= 1 + 1e-3)) {
        throw Error(fmt::format("beliefs: row {}, variable {}, value {}: {} is no probability",
                                place / worlds.variables(), place % worlds.variables(), value, probability));
      }
      logs[as_size(place * width + value)] = std::log(probability);
    }
  }
  return logs;
}

template <typename Real>
std::vector<double> logs_of_logits(std::span<const Real> logits, const Space& worlds) {
  const auto rows = rows_in(logits.size(), worlds), width = worlds.largest_domain();
  std::vector<double> logs(logits.begin(), logits.end());
  for (std::int64_t place = 0; place < rows * worlds.variables(); ++place) {
    const std::span of_values(logs.data() + place * width, as_size(worlds.domain(place % worlds.variables())));
    const double sum = log_sum(of_values);
    if (!std::isfinite(sum)) {
      throw Error(fmt::format("beliefs: row {}, variable {}: its logits have no softmax", place / worlds.variables(),
                              place % worlds.variables()));
    }
    for (auto& value : of_values) value -= sum;
  }
  return logs;
}

// One output for each row, also if one is for all.
Points for_each_row(const Points& outputs, std::int64_t rows) {
  if (outputs.size() != 1 || rows == 1) return outputs;
  Points repeated(rows, outputs.width());
  for (std::int64_t row = 0; row < rows; ++row) std::ranges::copy(outputs[0], repeated[row].begin());
  return repeated;
}

ProbablePoints probable(const std::vector<RankedPoints>& ranked, const std::vector<double>& log_totals) {
  std::vector<std::vector<ProbablePoint>> result;
  for (std::size_t row = 0; row < ranked.size(); ++row) {
    auto& points = result.emplace_back();
    for (std::int64_t place = 0; place < ranked[row].points.size(); ++place) {
      const auto values = ranked[row].points[place];
      const double log_prob = ranked[row].log_probs[as_size(place)] - log_totals[row];
      points.push_back({{values.begin(), values.end()}, std::min(1.0, std::exp(log_prob))});
    }
  }
  return ProbablePoints(std::move(result));
}

// A function that was saved: its outputs in the order of Space::for_each_point, or whatever its back end says of worlds
// that are certain.
std::shared_ptr<const Problem> listed_problem(const Space& worlds, const Space& outputs,
                                              std::span<const std::int64_t> values) {
  if (static_cast<double>(values.size()) != worlds.points() * static_cast<double>(outputs.variables())) {
    throw Error("the list of outputs has another length than there are worlds");
  }
  std::vector<std::int64_t> list(values.begin(), values.end());
  return make_problem(worlds, outputs, [worlds, list = std::move(list)](Values world, MutableValues output) {
    std::size_t place = 0;
    for (std::size_t variable = 0; variable < world.size(); ++variable) {
      place = place * as_size(worlds.domain(static_cast<std::int64_t>(variable))) + as_size(world[variable]);
    }
    std::copy_n(list.begin() + static_cast<std::ptrdiff_t>(place * output.size()), output.size(), output.begin());
  });
}

std::shared_ptr<const Problem> certain_problem(const Space& worlds, const Space& outputs,
                                               std::shared_ptr<std::shared_ptr<const Backend>> backend) {
  return make_problem(worlds, outputs, [worlds, backend](Values world, MutableValues output) {
    const auto width = worlds.largest_domain();
    std::vector<double> logs(world.size() * as_size(width), kLogOfZero);
    for (std::size_t variable = 0; variable < world.size(); ++variable) {
      logs[variable * as_size(width) + as_size(world[variable])] = 0;
    }
    const auto ranked = (*backend)->ranked_outputs({logs.data(), 1, worlds.variables(), width}, 1);
    if (ranked[0].points.size() > 0) std::ranges::copy(ranked[0].points[0], output.begin());
  });
}

Space space_in(const NamedArrays& arrays, const std::string& name) {
  const auto found = arrays.find(name);
  if (found == arrays.end()) throw Error(fmt::format("{} is missing", name));
  const auto domains = found->second.values<std::int64_t>();
  return Space(std::vector<std::int64_t>(domains.begin(), domains.end()));
}

}  // namespace

Beliefs::Beliefs(Logs logs, const Space& worlds)
    : logs_(std::move(logs.values)), variables_(worlds.variables()), width_(worlds.largest_domain()) {}
Beliefs::Beliefs(std::span<const float> probabilities, const Space& worlds)
    : Beliefs(Logs{logs_of_probabilities(probabilities, worlds)}, worlds) {}
Beliefs::Beliefs(std::span<const double> probabilities, const Space& worlds)
    : Beliefs(Logs{logs_of_probabilities(probabilities, worlds)}, worlds) {}
Beliefs Beliefs::of_logits(std::span<const float> logits, const Space& worlds) {
  return {Logs{logs_of_logits(logits, worlds)}, worlds};
}
Beliefs Beliefs::of_logits(std::span<const double> logits, const Space& worlds) {
  return {Logs{logs_of_logits(logits, worlds)}, worlds};
}

LogBeliefRows Beliefs::rows() const {
  return {logs_.data(), std::ssize(logs_) / (variables_ * width_), variables_, width_};
}

Exact::Exact(std::shared_ptr<const Problem> problem, const ExactOptions& options, const DiscoverOptions& discovery,
             std::uint64_t seed, const std::function<void(const std::string&)>& say)
    : problem_(std::move(problem)) {
  auto chosen = choose_backend(*problem_, options);
  if (!chosen.backend && options.method == "auto") {
    const auto found = discover(*problem_, discovery, seed, {}, say);
    if (found.automaton) problem_ = with(problem_, found.automaton);
    if (found.tables) problem_ = with(problem_, found.tables);
    chosen = choose_backend(*problem_, options);
    certificate_ = found.certificate;
    if (!chosen.backend) throw Error(fmt::format("{}; discovery: {}", chosen.why_not, found.reason));
  }
  if (!chosen.backend) throw Error(chosen.why_not);
  backend_ = chosen.backend;
  method_ = chosen.name;
}

std::vector<double> Exact::log_prob(const Beliefs& beliefs, const LabelRows& labels, WholeWorlds whole) const {
  std::vector<double> log_probs(as_size(beliefs.size()));
  label_log_prob(*backend_, beliefs.rows(), labels, log_probs, {}, whole);
  return log_probs;
}

ProbablePoints Exact::predict(const Beliefs& beliefs, std::int64_t top) const {
  return probable(backend_->ranked_outputs(beliefs.rows(), top), std::vector<double>(as_size(beliefs.size()), 0));
}

ProbablePoints Exact::explain(const Beliefs& beliefs, const Points& outputs, std::int64_t top) const {
  const auto asked = for_each_row(outputs, beliefs.size());
  std::vector<double> totals(as_size(beliefs.size()));
  backend_->log_prob({beliefs.rows(), asked}, totals);
  return probable(backend_->ranked_worlds({beliefs.rows(), asked}, top), totals);
}

std::vector<double> Exact::marginals(const Beliefs& beliefs, const Points& outputs) const {
  const auto asked = for_each_row(outputs, beliefs.size());
  const auto rows = beliefs.rows();
  std::vector<double> totals(as_size(rows.size)), shares(as_size(rows.size * rows.row_size()));
  backend_->log_prob({rows, asked}, totals, {shares.data(), rows.size, rows.variables, rows.width});
  return shares;
}

Points Exact::sample(const Beliefs& beliefs, const Points& outputs, Random& random) const {
  const auto asked = for_each_row(outputs, beliefs.size());
  Points worlds(beliefs.size(), this->worlds().variables());
  backend_->sample({beliefs.rows(), asked}, random, worlds);
  return worlds;
}

void Exact::save(const std::filesystem::path& file) const {
  const auto& facts = problem_->facts();
  const bool listed = method_ == "enumerate";
  FoundFacts kept{.automaton = method_ == "automaton", .tables = method_ == "tables", .summary = {}};
  kept.formula = !listed && !kept.automaton && !kept.tables && has_formula(*problem_);
  if (!listed && !kept.automaton && !kept.tables && !kept.formula) {
    throw Error(fmt::format("{}: exact inference by {} cannot be saved", file.string(), method_));
  }
  auto arrays = found_facts_of(*with_facts(problem_, Facts(facts).with(kept)));
  arrays["worlds"] = Array::of<std::int64_t>({worlds().variables()}, worlds().domains());
  arrays["outputs"] = Array::of<std::int64_t>({outputs().variables()}, outputs().domains());
  if (listed) {
    const auto given = apply(*problem_, all_points(worlds()));
    arrays["listed"] = Array::of<std::int64_t>({given.size(), given.width()}, given.values());
  }
  write_safetensors(file, arrays, {{"format", kFormat}, {"method", method_}});
}

Exact Exact::load(const std::filesystem::path& file) {
  const auto saved = read_safetensors(file);
  try {
    const auto said = [&](const std::string& name) {
      const auto found = saved.metadata.find(name);
      return found == saved.metadata.end() ? std::string() : found->second;
    };
    if (said("format") != kFormat) throw Error("this is no file of Exact::save()");
    const auto worlds = space_in(saved.arrays, "worlds"), outputs = space_in(saved.arrays, "outputs");
    Exact loaded;
    loaded.method_ = said("method");
    const auto backend = std::make_shared<std::shared_ptr<const Backend>>();
    const auto list = saved.arrays.find("listed");
    loaded.problem_ = list != saved.arrays.end() ? listed_problem(worlds, outputs, list->second.values<std::int64_t>())
                                                 : certain_problem(worlds, outputs, backend);
    auto facts = saved.arrays;
    for (const auto* const name : {"worlds", "outputs", "listed"}) facts.erase(name);
    loaded.problem_ = with_found_facts(loaded.problem_, facts, {});
    loaded.backend_ = *backend = make_backend(loaded.method_, *loaded.problem_);
    return loaded;
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace anesi
