#include "anesi/train/choose_q.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

#include "anesi/core/error.h"
#include "anesi/discover/find_tables.h"
#include "anesi/discover/orders.h"
#include "anesi/exact/automaton.h"
#include "anesi/exact/found_facts.h"
#include "anesi/logic/cnf.h"
#include "anesi/logic/compiled_formula.h"
#include "anesi/losses/amortized.h"
#include "anesi/models/exact_model.h"
#include "anesi/priors/fixed_dirichlet.h"
#include "anesi/tensors/beliefs.h"
#include "anesi/tensors/problem.h"
#include "anesi/tensors/seeded.h"

namespace anesi {
namespace {

constexpr double kFewWorldsToEnumerate = 1 << 16, kFewToEnumerate = 1 << 18, kConcentration = 0.2;
constexpr std::int64_t kUpdates = 150, kSamples = 64, kHeldOut = 512;

// Mean log q(c(w)|P) of fresh beliefs and worlds, after a few updates of q.
double held_out_likelihood(const std::shared_ptr<const Problem>& problem, const InferenceModel& q, std::uint64_t seed) {
  AmortizedLoss loss(problem, q, std::make_unique<FixedDirichlet>(problem->worlds(), kConcentration),
                     {.samples = kSamples}, seeded(seed));
  for (std::int64_t update = 0; update < kUpdates; ++update) loss.learn({}, {0.002, 0.9});
  const torch::NoGradGuard no_gradients;
  q.eval();
  const auto generator = seeded(seed + 1);
  FixedDirichlet prior(problem->worlds(), kConcentration);
  const auto beliefs = prior.sample(kHeldOut, generator);
  const auto outputs = apply(*problem, sample_worlds(beliefs, generator));
  return q.prediction->log_prob({beliefs}, outputs).mean().item<double>();
}

// In a batch; the fastest of a few, since a busy machine makes any call slow now and then.
double seconds_a_call(const Problem& problem, std::uint64_t seed) {
  constexpr std::int64_t kAsked = 16;
  Random random(seed);
  const auto worlds = random_points(problem.worlds(), kAsked, random);
  double fastest = std::numeric_limits<double>::infinity();
  for (int time = 0; time < 3; ++time) {
    const auto begin = std::chrono::steady_clock::now();
    apply(problem, worlds);
    fastest = std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    if (fastest > 1) break;
  }
  return fastest / static_cast<double>(kAsked);
}

std::string certificate_in_words(const DistanceBound& bound) {
  return fmt::format("differs from c on at most {:.1e} of worlds of {}, {:.0f} % sure", bound.bound, bound.beliefs,
                     100 * bound.level);
}

}  // namespace

bool ChosenQ::is_exact() const { return architecture == kExactArchitecture; }

ChosenQ choose_q(const std::shared_ptr<const Problem>& problem, const DiscoverOptions& options, std::uint64_t seed,
                 const std::function<InferenceModel(const Problem&, const std::string& architecture)>& make,
                 const std::function<void(const std::string&)>& say) {
  if (problem->facts().find<Automaton>() != nullptr) {
    return {problem, kExactArchitecture, "exact inference: the problem tells its memory", {}};
  }
  if (has_formula(*problem)) {
    std::string why_not;
    try {
      return {.problem = problem,
              .architecture = kExactArchitecture,
              .reason = "exact inference by the formula that was told",
              .model = make(*problem, kExactArchitecture)};
    } catch (const Error& error) {
      why_not = error.what();
    }
    const auto* const cnf = problem->facts().find<Cnf>();
    if (cnf != nullptr && cnf->encoding().is_constraint()) {
      return {problem, "graph", "graph: messages along the clauses that were told; " + why_not, {}};
    }
    if (say) say("the formula that was told is passed over: " + why_not);
  }
  const auto worlds = problem->worlds().points();
  const auto& domains = problem->outputs().domains();
  const ChosenQ enumerated{
      problem, kExactArchitecture, fmt::format("exact inference: there are only {:.0f} worlds", worlds), {}};
  // Where c is slow, even few worlds take too long.
  const bool enumerable =
      worlds <= kFewWorldsToEnumerate && seconds_a_call(*problem, seed) * worlds <= options.limits.seconds;
  // Enumeration goes over all worlds for every value that an output may have; a memory is faster where there is one.
  if (enumerable && worlds * std::accumulate(domains.begin(), domains.end(), 0.0) <= kFewToEnumerate) return enumerated;
  ChosenQ chosen{.problem = problem, .discovery = discover(*problem, options, seed, {}, say)};
  const auto& found = *chosen.discovery;
  if (!found.automaton && enumerable) return enumerated;
  auto facts = problem->facts();
  if (found.automaton) {
    chosen.architecture = kExactArchitecture;
    chosen.reason = fmt::format("exact inference: a memory of {} states was found, which {}", found.automaton->states(),
                                certificate_in_words(*found.certificate));
    facts.with(found.automaton).with(FoundFacts{.automaton = true, .summary = chosen.reason});
    chosen.problem = with_facts(problem, facts);
    return chosen;
  }
  if (found.tables) {
    chosen.architecture = "tables";
    chosen.reason = fmt::format("tables: every output is of a few world variables; each by itself {}",
                                certificate_in_words(*found.certificate));
    facts.with(found.tables).with(FoundFacts{.tables = true, .summary = chosen.reason});
    if (const auto pairs = pairs_of(*found.tables)) facts.with(*pairs);
    chosen.problem = with_facts(problem, facts);
    return chosen;
  }
  if (found.influence.size() > 0 && problem->facts().find<ReadingOrder>() == nullptr) {
    facts.with(reading_by_influence(problem->worlds(), problem->outputs(), found.influence));
    facts.with(FoundFacts{.reading = true, .summary = {}});
    chosen.problem = with_facts(problem, facts);
  }
  if (found.influence.size() == 0) {  // c is too slow to be asked often, or too much is unknown of it
    chosen.architecture = "mlp";
    chosen.reason = "mlp: " + found.reason;
    return chosen;
  }
  double best = 0;
  for (const std::string architecture : {"scan", "mlp"}) {
    if (say) say(fmt::format("no memory was found ({}); trying a q of architecture {}", found.reason, architecture));
    const auto likelihood = held_out_likelihood(chosen.problem, make(*chosen.problem, architecture), seed);
    if (!chosen.architecture.empty() && likelihood <= best) continue;
    best = likelihood;
    chosen.architecture = architecture;
  }
  chosen.reason = fmt::format("{}: {}; of scan and mlp it gives samples of c the higher likelihood ({:.3g} nats)",
                              chosen.architecture, found.reason, best);
  if (const auto* const told = chosen.problem->facts().find<FoundFacts>()) {
    auto with_summary = *told;
    with_summary.summary = chosen.reason;
    chosen.problem = with(chosen.problem, with_summary);
  }
  return chosen;
}

}  // namespace anesi
