#include "core.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/interrupt.h"
#include "anesi/core/pruner.h"
#include "anesi/discover/cnf_check.h"
#include "anesi/discover/find_tables.h"
#include "anesi/exact/automaton.h"
#include "anesi/exact/found_facts.h"
#include "anesi/logic/cnf.h"
#include "anesi/logic/compiled_formula.h"
#include "anesi/losses/amortized.h"
#include "anesi/losses/exact.h"
#include "anesi/losses/observed_log_prob.h"
#include "anesi/models/architecture.h"
#include "anesi/models/automaton_inference.h"
#include "anesi/models/module_tensors.h"
#include "anesi/tensors/arrays.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/rows.h"
#include "anesi/tensors/seeded.h"
#include "anesi/train/choose_q.h"
#include "anesi/train/watch.h"
#include "labels.h"
#include "softmax.h"
#include "without_autocast.h"

namespace anesi::python {
namespace {

constexpr std::int64_t kWatchedAtOnce = 64;
constexpr double kLearningAgainstAsking = 3;  // time for q's first learning, for each second that discovery may take

constexpr std::int64_t kAsked = 200;  // worlds on which what is told is compared with the function

torch::Tensor some_worlds(const Space& worlds) {
  Random random(0);
  return tensor_of(random_points(worlds, kAsked, random).rows());
}

// Numbers are read as they lie: a reduction by torch costs more than it adds up here.
template <typename Number>
bool has_nan_of(const torch::Tensor& values) {
  const auto whole = values.detach().contiguous();
  const auto* const begin = whole.const_data_ptr<Number>();
  return std::any_of(begin, begin + whole.numel(), [](Number value) { return std::isnan(value); });
}

bool has_nan(const torch::Tensor& values) {
  return values.scalar_type() == torch::kFloat64 ? has_nan_of<double>(values) : has_nan_of<float>(values);
}

// A row of logits that has a NaN or an infinity, or nothing but minus infinities, became NaN throughout.
void require_numbers(const torch::Tensor& softened) {
  if (!has_nan(softened)) return;
  const auto bad = softened.detach().isnan().any(2).nonzero();
  throw UsageError(fmt::format("logits: example {}, variable {}: not a number or infinite",
                               bad[0][0].item<std::int64_t>(), bad[0][1].item<std::int64_t>()));
}

// Minus infinity where something is not a number.
double lowest(const torch::Tensor& log_probs) {
  const auto values = log_probs.detach().to(torch::kFloat64).contiguous();
  const auto* const begin = values.const_data_ptr<double>();
  if (std::any_of(begin, begin + values.numel(), [](double value) { return std::isnan(value); })) {
    return -std::numeric_limits<double>::infinity();
  }
  return *std::min_element(begin, begin + values.numel());
}

torch::ScalarType type_of_results(const torch::Tensor& values) {
  return values.scalar_type() == torch::kFloat64 ? torch::kFloat64 : torch::kFloat32;
}

}  // namespace

Core::Core(std::shared_ptr<const Problem> problem, std::int64_t given, const std::string& architecture,
           const std::vector<std::string>& settings, std::uint64_t seed, Say say, const std::optional<Choice>& chosen,
           const std::vector<std::int64_t>& order)
    : options_(std::make_unique<CoreOptions>()), given_(given), knowledge_(std::move(problem), seed) {
  const c10::InferenceMode ordinary(false);  // q learns, whatever the caller does without gradients
  for (const auto& setting : settings) options_->set(setting);
  options_->discover.order = order;
  knowledge_.say = std::move(say);
  const auto& space = knowledge_.problem->worlds();
  seen_domains_.assign(space.domains().begin() + given_, space.domains().end());
  if (seen_domains_.empty()) throw UsageError("given: all variables are given, and none is left to believe in");
  largest_seen_ = *std::ranges::max_element(seen_domains_);
  const auto& named = architecture.empty() ? options_->q.architecture : architecture;
  if (!chosen) options_->require_used(named == kAutoArchitecture ? "" : named);
  if (!chosen && options_->eval.prune && knowledge_.problem->facts().find<Pruner>() == nullptr) {
    throw UsageError("eval.prune: this function has no pruner; leave it false");
  }
  choose(named, chosen);
  if (knowledge_.learns_q && !chosen) learn_alone();
}

InferenceModel Core::make(const Problem& problem, const std::string& architecture) const {
  if (architecture == kExactArchitecture || architecture == kPropagation) {
    return make_exact_model(problem, options_->exact);
  }
  const SeededWeights weights(knowledge_.seed + 1);
  return make_model(problem, architecture, options_->q.amortized.explains(), options_->settings_for(architecture));
}

void Core::choose(const std::string& architecture, const std::optional<Choice>& chosen) {
  auto& problem = knowledge_.problem;
  std::optional<InferenceModel> made;
  if (chosen) {
    choice_ = *chosen;
    if (!choice_.facts.empty()) problem = with_found_facts(problem, arrays_of(choice_.facts), choice_.reason);
  } else if (architecture != kAutoArchitecture) {
    choice_ = {.architecture = architecture, .reason = architecture + ", as told"};
    if (architecture == kPropagation) {
      choice_.reason = "propagation: approximate, messages along the clauses";
      if (!problem->facts().find<CompiledFormula>()) choice_.reason += "; no circuit compiled in time";
    }
  } else {
    auto found = choose_q(
        problem, options_->discover, knowledge_.seed,
        [this](const Problem& of, const std::string& name) { return make(of, name); }, knowledge_.say);
    problem = found.problem;
    made = found.model;
    choice_ = {
        .architecture = found.architecture, .reason = found.reason, .facts = tensors_of(found_facts_of(*problem))};
    if (found.discovery) {
      choice_.calls = found.discovery->calls;
      choice_.seconds = found.discovery->seconds;
      choice_.certificate = found.discovery->certificate;
    }
  }
  // A back end that approximates is called by its own name, not exact.
  if (choice_.architecture == kPropagation) options_->exact.method = kPropagation;
  if (choice_.architecture == kExactArchitecture && options_->exact.method == kPropagation) {
    choice_.architecture = kPropagation;
  }
  auto model = made ? *made : make(*problem, choice_.architecture);
  model.eval();  // before anybody asks, so that nobody who asks has to
  const bool has_weights = !model.prediction->parameters().empty();
  if (!has_weights) {
    knowledge_.model = std::move(model);
    knowledge_.watched = {.worlds = is_exact() ? options_->discover.watched : 0, .options = options_->discover};
    if (const auto* const found = problem->facts().find<FoundFacts>(); found == nullptr || !found->automaton) {
      knowledge_.watched.worlds = 0;
    }
    watches_ = knowledge_.watched.worlds > 0;
    return;
  }
  model.prediction->to(type_);  // whatever torch makes by default
  if (model.explanation) model.explanation->to(type_);
  std::unique_ptr<BeliefPrior> prior;
  if (!model.prediction->multilinear()) {
    const auto choice = priors().find(options_->prior.kind).choose();
    OptionTable table;
    table.add_group(options_->prior.kind, *choice);
    for (const auto& setting : options_->settings_for(options_->prior.kind)) {
      table.set(std::string_view(setting));
    }
    prior = choice->make(problem->worlds(), options_->prior);
  }
  knowledge_.learn_through(std::move(model), options_->q.amortized, std::move(prior));
}

void Core::learn_alone() {
  const auto updates = options_->q.pretrain;
  const auto begin = std::chrono::steady_clock::now();
  const std::chrono::duration<double> limit(kLearningAgainstAsking * options_->discover.limits.seconds);
  double loss = 0;
  for (std::int64_t update = 0; update < updates; ++update) {
    loss = knowledge_.loss->learn({}, options_->q.schedule.at(update, updates)).value_or(0);
    check_interrupt();
    if (std::chrono::steady_clock::now() - begin > limit) {
      if (knowledge_.say) {
        knowledge_.say(fmt::format(
            "q has learned for {:.0f} s, and had {} of {} updates (q.pretrain); it goes on learning beside you",
            limit.count(), update + 1, updates));
      }
      return;
    }
    if (knowledge_.say && (update + 1) % 250 == 0) {
      knowledge_.say(fmt::format("q has learned from {} samples of the function, loss {:.3f}",
                                 (update + 1) * options_->q.amortized.samples, loss));
    }
  }
}

std::vector<std::int64_t> Core::given() const {
  const auto& domains = problem().worlds().domains();
  return {domains.begin(), domains.begin() + given_};
}

torch::Tensor Core::checked_given(const Asked& asked) const {
  if (given_ == 0) {
    if (asked.given.defined()) throw UsageError("given: this function is told nothing besides the world");
    return {};
  }
  if (!asked.given.defined()) {
    throw UsageError(fmt::format("given: this function is told {} numbers besides the world", given_));
  }
  auto rows = as_rows(asked.given, asked.values.size(0), given_, "given");
  check_values(rows, Space(given()), {}, "given");
  return rows;
}

void Core::check_shape(const Asked& asked) const {
  const auto* const name = asked.logits ? "logits" : "beliefs";
  const auto& values = asked.values;
  const auto variables = static_cast<std::int64_t>(seen_domains_.size());
  if (!values.is_floating_point()) {
    throw UsageError(
        fmt::format("{}: floating-point numbers are expected, not {}", name, c10::toString(values.scalar_type())));
  }
  if (values.dim() != 3 || values.size(1) != variables || values.size(2) != largest_seen_) {
    throw UsageError(
        fmt::format("{}: shape {}, expected (batch, {}, {})", name, shape_of(values), variables, largest_seen_));
  }
}

torch::Tensor Core::beliefs(const Asked& asked, torch::ScalarType type) const {
  check_shape(asked);
  const WithoutAutocast full_precision;
  auto result = asked.values.to(torch::kCPU, type);
  if (asked.logits) {
    result = softmax_of_domains(result, seen_domains_);
    require_numbers(result);
  } else {
    try {
      check_beliefs(result, Space(seen_domains_));
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
  }
  const auto given = checked_given(asked);
  if (given_ == 0) return result;
  const auto width = problem().worlds().largest_domain();
  if (width > largest_seen_) result = torch::constant_pad_nd(result, {0, width - largest_seen_});
  const auto told = torch::one_hot(given, width).to(result.options());
  return torch::cat({told, result}, 1);
}

LogBeliefs Core::log_beliefs(const Asked& asked) const {
  if (!asked.logits) return LogBeliefs::differentiable(beliefs(asked, torch::kFloat64));
  check_shape(asked);
  const WithoutAutocast full_precision;
  auto result = log_softmax_of_domains(asked.values.to(torch::kCPU), seen_domains_);
  require_numbers(result);
  const auto given = checked_given(asked);
  if (given_ == 0) return LogBeliefs(result);
  const auto width = problem().worlds().largest_domain();
  if (width > largest_seen_) {
    result = torch::constant_pad_nd(result, {0, width - largest_seen_}, -std::numeric_limits<double>::infinity());
  }
  return LogBeliefs(torch::cat({torch::one_hot(given, width).to(torch::kFloat64).log(), result}, 1));
}

torch::Tensor Core::checked_outputs(const torch::Tensor& outputs, std::int64_t batch, bool may_be_open) const {
  const auto& space = problem().outputs();
  auto rows = as_rows(outputs, batch, space.variables(), "outputs");
  // Only where all worlds are gone through may an output end early.
  const bool may_end = asks_back_end() && knowledge_.model.exact->ranks_outputs();
  check_values(rows, space, {.end = may_end, .unset = may_be_open}, "outputs");
  return rows;
}

torch::Tensor Core::checked_worlds(const torch::Tensor& worlds, std::int64_t batch, const torch::Tensor& given) const {
  const Space space(seen_domains_);
  auto rows = as_rows(worlds, batch, space.variables(), "worlds");
  // In Python -1 stands for a variable that is not known.
  rows = rows.masked_fill(rows == -1, kUnset).contiguous();
  check_values(rows, space, {.unset = true}, "worlds");
  return given.defined() ? torch::cat({given, rows}, 1) : rows;
}

torch::Tensor Core::without_given(const torch::Tensor& rows, std::int64_t dimension) const {
  return given_ == 0 ? rows : rows.slice(dimension, given_).contiguous();
}

Observations Core::checked(const Asked& asked, Observations seen) const {
  const auto batch = asked.values.size(0);
  if (!seen.outputs.defined() && !seen.worlds.defined())
    throw UsageError("a label is missing: outputs, worlds or both");
  if (seen.outputs.defined()) seen.outputs = checked_outputs(seen.outputs, batch);
  if (seen.worlds.defined()) {
    seen.worlds = checked_worlds(seen.worlds, batch, given_ > 0 ? checked_given(asked) : torch::Tensor());
  }
  if (seen.holds.defined()) {
    if (!seen.outputs.defined()) throw UsageError("holds: it says whether outputs hold, and there are none");
    if (seen.holds.dim() != 1 || seen.holds.size(0) != batch) {
      throw UsageError(fmt::format("holds: shape {}, expected ({})", shape_of(seen.holds), batch));
    }
    seen.holds = seen.holds.to(torch::kCPU, torch::kBool);
  }
  return seen;
}

torch::Tensor Core::log_prob_of(const torch::Tensor& beliefs, const Observations& seen, const LogBeliefs* logs) const {
  auto* const amortized = dynamic_cast<AmortizedLoss*>(knowledge_.loss.get());
  return amortized != nullptr ? amortized->log_likelihood(beliefs, seen, logs)
                              : observed_log_prob(knowledge_.model, beliefs, seen, nullptr, false, logs);
}

torch::Tensor Core::observed(const Asked& asked, const Observations& labels, bool must_be_possible) const {
  check_shape(asked);
  const auto seen = checked(asked, labels);
  const WithoutAutocast full_precision;
  const auto& model = knowledge_.model;
  torch::Tensor result;
  if (asked.values.size(0) == 0) return asked.values.to(torch::kCPU).sum({1, 2});
  if (asks_back_end()) {
    const auto ask = [&](const LogBeliefs& believed) { return model.exact->label_log_prob(believed, seen); };
    result = asked.logits ? ask(log_beliefs(asked)) : through_logs(beliefs(asked), problem().worlds(), ask);
  } else {
    const auto logs = seen.worlds.defined() ? std::optional(log_beliefs(asked)) : std::nullopt;
    result = log_prob_of(beliefs(asked), seen, logs ? &*logs : nullptr);
  }
  if (!std::isinf(lowest(result))) return result;
  // A world whose output is impossible is divided by nothing: not a number, and impossible as well.
  const auto impossible = result.detach().isneginf().logical_or(result.detach().isnan());
  if (!must_be_possible) return result.masked_fill(impossible, -std::numeric_limits<double>::infinity());
  const auto row = impossible.nonzero()[0][0].item<std::int64_t>();
  const auto label = seen.outputs.defined() ? in_words(row_of(seen.outputs, row)) : std::string("a world");
  const auto* const why = seen.worlds.defined() ? "which contradicts what is told of its world, or these beliefs"
                          : asked.logits        ? "and no world gives that"
                                                : "which these beliefs rule out";
  throw UsageError(fmt::format("outputs: example {} is labelled {}, {}", row, label, why));
}

torch::Tensor Core::log_prob(const Asked& asked, const Observations& seen) const {
  return observed(asked, seen, /*must_be_possible=*/false).to(asked.values.device(), type_of_results(asked.values));
}

torch::Tensor Core::loss(const Asked& asked, const Observations& seen) const {
  return observed(asked, seen, /*must_be_possible=*/true)
      .mean()
      .neg()
      .to(asked.values.device(), type_of_results(asked.values));
}

std::optional<double> Core::learn(const torch::Tensor& beliefs) {
  const c10::InferenceMode ordinary(false);
  const WithoutAutocast full_precision;
  const torch::AutoGradMode gradients(true);
  if (!learns_beside() || steps_++ % options_->q.every != 0) return std::nullopt;
  // How many steps there will be is not known, so that no schedule can be followed here.
  const auto& q = options_->q;
  return knowledge_.loss->learn(beliefs.detach().clone(),
                                {.learning_rate = q.joint_lr > 0 ? q.joint_lr : q.schedule.lr});
}

torch::Tensor Core::watch(const torch::Tensor& beliefs) {
  if (knowledge_.watched.worlds == 0 || beliefs.size(0) == 0) return {};
  const c10::InferenceMode ordinary(false);
  const auto worlds = worlds_to_watch(knowledge_, beliefs);
  unwatched_ = unwatched_.defined() ? torch::cat({unwatched_, worlds}) : worlds;
  // A function in Python is not called at every step: what it costs is mostly the call.
  if (unwatched_.size(0) < kWatchedAtOnce) return {};
  const auto wrong = wrong_worlds(knowledge_, std::exchange(unwatched_, torch::Tensor()));
  return wrong.size(0) > 0 ? wrong : torch::Tensor();
}

void Core::grow(const torch::Tensor& wrong) {
  const c10::InferenceMode ordinary(false);
  grow_memory(knowledge_, wrong);
  choice_.reason = problem().facts().find<FoundFacts>()->summary;
  choice_.facts = tensors_of(found_facts_of(problem()));
  choice_.certificate = {};  // it was about another memory
}

torch::Tensor Core::apply(const torch::Tensor& worlds) const {
  const auto rows = as_rows(worlds, worlds.dim() > 0 ? worlds.size(0) : 0, problem().worlds().variables(), "worlds");
  check_values(rows, problem().worlds(), {}, "worlds");
  return anesi::apply(problem(), rows);
}

void check_told_facts(const Problem& problem) {
  const auto& worlds = problem.worlds();
  const auto* const cnf = problem.facts().find<Cnf>();
  if (cnf != nullptr && !cnf->encoding().fits(worlds, problem.outputs())) {
    throw UsageError("cnf: it is of other variables or domains than worlds and outputs");
  }
  if (cnf != nullptr) {
    constexpr double kFewWorlds = 1 << 10;
    const auto asked = worlds.points() <= kFewWorlds ? points_of(worlds) : some_worlds(worlds);
    const auto finding = check_cnf(problem, *cnf, rows_of(asked), rows_of(apply(problem, asked).contiguous()));
    if (!finding.good) throw UsageError("cnf: it " + finding.words);
  }
  const auto* const automaton = problem.facts().find<Automaton>();
  if (automaton == nullptr) return;
  if (const auto complaint = automaton->reading().complaint(worlds, problem.outputs()); !complaint.empty()) {
    throw UsageError("automaton: " + complaint);
  }
  const auto drawn = some_worlds(worlds);
  const auto expected = apply(problem, drawn), said = outputs_of(*automaton, drawn);
  const auto differ = (expected != said).any(1);
  if (!differ.any().item<bool>()) return;
  const auto row = differ.nonzero()[0][0].item<std::int64_t>();
  throw UsageError(fmt::format("automaton: it gives {} for the world {}, and the function {}",
                               in_words(row_of(said, row)), in_words(row_of(drawn, row)),
                               in_words(row_of(expected, row))));
}

double Core::seconds_in_cpp(const torch::Tensor& logits, const torch::Tensor& outputs, std::int64_t times) const {
  ExactLoss loss(knowledge_.model);
  std::vector<double> seconds;
  for (std::int64_t time = 0; time < times; ++time) {
    const auto begin = std::chrono::steady_clock::now();
    const auto leaf = logits.detach().requires_grad_();
    loss.loss(leaf.softmax(2), outputs).backward();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::nth_element(seconds, seconds.begin() + times / 2);
  return seconds[as_size(times / 2)];
}

void Core::join(Partners partners) {
  if (auto* const amortized = dynamic_cast<AmortizedLoss*>(knowledge_.loss.get())) amortized->join(std::move(partners));
}

void Core::to(torch::ScalarType type) {
  const c10::InferenceMode ordinary(false);
  type_ = type;
  if (auto* const amortized = dynamic_cast<AmortizedLoss*>(knowledge_.loss.get())) amortized->to(type);
}

}  // namespace anesi::python
