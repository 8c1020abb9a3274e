#include "anesi/discover/discover.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "anesi/core/deterministic.h"
#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/discover/find_tables.h"
#include "anesi/discover/layered_machine.h"
#include "anesi/discover/orders.h"

namespace anesi {
namespace {

constexpr std::int64_t kProbes = 12, kTestedMachines = 10000, kRecombined = 4000, kLearnedAtOnce = 64;
constexpr std::int64_t kStatesBesideTables = 256, kFirstStates = 16, kMoreStates = 4, kMostRounds = 60;
constexpr std::int64_t kAskedTwice = 64, kRareShare = 50, kMostRare = 500, kNearRare = 2000, kMostTelling = 4000;
constexpr std::int64_t kCallsToMakeSmaller = 2'000'000, kMovesOfAVariable = 4, kMostProbes = 64;
constexpr const char* kUsualBeliefs = "beliefs of mixed priors";
constexpr int kTimed = 10;
constexpr double kSecondsTimed = 0.2;
constexpr int kFewestCalls = 5000;  // nothing is found with fewer

// The search itself, with what it needs everywhere.
class Search {
 public:
  Search(const Problem& problem, const DiscoverOptions& options, std::uint64_t seed, WorldSource source,
         const std::function<void(const std::string&)>& say)
      : oracle_(problem, options.limits),
        options_(options),
        seed_(seed),
        source_(std::move(source)),
        say_(say),
        random_(seed) {}

  // In one order only, where one is given, and with worlds that are known to tell.
  Discovery run(const std::optional<std::vector<std::int64_t>>& order_of_reading = {}, PointRows telling = {}) {
    Discovery found;
    telling_ = Points(telling);
    try {
      check_that_c_can_be_asked();
      found.influence = influence(oracle_, random_);
      if (!order_of_reading) found.tables = find_tables(oracle_, found.influence, source_.draw, random_).tables;
      const auto uniform = random_points(oracle_.worlds(), kProbes / 2, random_);
      const auto probes = joined({uniform, source_.draw(kProbes - kProbes / 2, random_)});
      std::vector<Attempt> attempts;
      std::vector<OrderChoice> orders;
      if (order_of_reading) {
        orders.push_back({"as told", fixed_order(*order_of_reading)});
      } else {
        orders = promising_orders(oracle_, found.influence, seed_);
      }
      for (auto& order : orders) {
        attempts.push_back({order.name, LayeredMachine(oracle_, probes, std::move(order.choose))});
      }
      // Where tables say it all, only a small memory is better than they are.
      const auto most = found.tables ? std::min(options_.limits.states, kStatesBesideTables) : options_.limits.states;
      search(attempts, most);
      found.reason =
          fmt::format("no memory of up to {} states gives its outputs, in {} orders of reading", most, attempts.size());
    } catch (const LimitReached& limit) {
      found.reason = limit.what();
    }
    if (best_ && best_->wrong <= options_.distance) {
      found.automaton = best_->automaton;
      found.order_by = best_->order_by;
      found.reason.clear();
      found.certificate = certify(Facts().with(found.automaton));
    } else if (found.tables) {
      found.certificate = certify(Facts().with(found.tables));
    }
    found.calls = oracle_.calls();
    found.rounds = rounds_;
    found.seconds = oracle_.seconds();
    return found;
  }

 private:
  struct Attempt {
    std::string name;
    LayeredMachine machine;
  };
  struct Candidate {
    std::string order_by;
    std::shared_ptr<const Automaton> automaton;
    double wrong;  // share of the worlds that it was last tried on
  };

  // Not more often than once a second.
  void say(const std::string& line) {
    if (!say_ || oracle_.seconds() < said_ + 1) return;
    said_ = oracle_.seconds();
    say_(line);
  }

  // A few worlds, twice: what does not give the same output again, or takes too long, is found before anything else.
  void check_that_c_can_be_asked() {
    const auto worlds = source_.draw(kAskedTwice, random_);
    // One call, several times: a busy machine makes any call slow now and then.
    double each = std::numeric_limits<double>::infinity();
    const auto seconds_of = [&](double calls) { return each * calls / static_cast<double>(thread_count()); };
    for (int times = 0; times < kTimed && (times < 2 || oracle_.seconds() < kSecondsTimed); ++times) {
      const auto before = oracle_.seconds();
      oracle_.ask(worlds.rows().slice(times, times + 1));
      each = std::min(each, oracle_.seconds() - before);
    }
    if (seconds_of(kFewestCalls) > oracle_.limits().seconds) {
      throw LimitReached(fmt::format("c takes {:.2g} s a call, too long to be asked {} times in {:.3g} s", each,
                                     kFewestCalls, oracle_.limits().seconds));
    }
    // How many worlds a certificate is drawn from is decided here, before anything is known of the machine: as many as
    // were asked for, unless c is so slow that this would take longer than all the rest.
    draws_ = options_.draws;
    if (seconds_of(static_cast<double>(draws_)) > oracle_.limits().seconds) {
      draws_ = std::max<std::int64_t>(100, static_cast<std::int64_t>(oracle_.limits().seconds / seconds_of(1)));
    }
    const auto outputs = oracle_.ask(worlds);
    std::vector<std::int64_t> backwards;
    for (auto row = worlds.size(); row-- > 0;) backwards.push_back(row);
    const auto again = rows_at(oracle_.ask(rows_at(worlds, backwards)), backwards);
    require_same_outputs(worlds, outputs, again);
  }

  // Small memories first, every order with each size.
  void search(std::vector<Attempt>& attempts, std::int64_t most_of_all) {
    for (auto most = std::min(kFirstStates, most_of_all);; most = std::min(kMoreStates * most, most_of_all)) {
      for (std::size_t index = 0; index < attempts.size(); ++index) {
        say(fmt::format("looking for a memory of up to {} states, order: {}; {} calls of c", most, attempts[index].name,
                        oracle_.calls()));
        if (!complete(attempts[index], most)) continue;
        make_smaller(attempts, index);
        return;
      }
      if (most == most_of_all) return;
    }
  }

  // Grows the machine and corrects it until no world that is drawn tells it from c. False where it becomes too large on
  // the way.
  bool complete(Attempt& attempt, std::int64_t most) {
    auto& machine = attempt.machine;
    for (std::int64_t round = 0; round < kMostRounds; ++round) {
      if (!machine.grow(most)) return false;
      const auto automaton = std::make_shared<const Automaton>(machine.automaton());
      if (learn(machine, *automaton, worlds_to_test(machine)) > 0) continue;
      const double wrong = learn(machine, *automaton, source_.draw(draws_, random_));
      if (!best_ || wrong < best_->wrong || (wrong == 0 && automaton->states() < best_->automaton->states())) {
        best_ = Candidate{attempt.name, automaton, wrong};
      }
      if (wrong == 0) return true;
    }
    return false;
  }

  // With the calls that are worth it: the other orders with less room, then the one that was found with single
  // variables moved (sifting).
  void make_smaller(std::vector<Attempt>& attempts, std::size_t found) {
    if (attempts[found].machine.widest() <= kFirstStates) return;
    oracle_.allow_calls(oracle_.calls() + std::max(kCallsToMakeSmaller, oracle_.calls() / 2));
    smallest_ = attempts[found];
    auto& smallest = *smallest_;
    try {
      for (std::size_t index = found + 1; index < attempts.size(); ++index) {
        if (complete(attempts[index], smallest.machine.widest() - 1)) smallest = attempts[index];
      }
      const auto variables = oracle_.worlds().variables();
      for (std::int64_t since = 0; since < variables * kMovesOfAVariable; ++since) {
        auto order = smallest.machine.order();
        const auto from = below(variables), to = below(variables);
        if (from == to) continue;
        const auto moved = order[as_size(from)];
        order.erase(order.begin() + from);
        order.insert(order.begin() + to, moved);
        Attempt sifted{smallest.name + ", sifted",
                       LayeredMachine(oracle_, smallest.machine.probes(kMostProbes), fixed_order(std::move(order)))};
        if (smallest.name.ends_with("sifted")) sifted.name = smallest.name;
        if (!complete(sifted, smallest.machine.widest() - 1)) continue;
        smallest = std::move(sifted);
        since = -1;
      }
    } catch (const LimitReached&) {
      // What is there is good enough.
    }
    oracle_.allow_calls(oracle_.limits().calls);
  }

  std::int64_t below(std::int64_t size) { return static_cast<std::int64_t>(random_.below(as_size(size))); }

  // Worlds that are drawn; the same with the beginning of some state in place of theirs, so that every state is tested
  // however unlikely it is; those that told another machine from c; and, where few worlds give an output, others that
  // differ from those in a variable or two.
  Points worlds_to_test(const LayeredMachine& machine) {
    const auto drawn = source_.draw(kTestedMachines, random_);
    const auto first = drawn.rows().slice(0, kRecombined), others = drawn.rows().slice(kRecombined, kTestedMachines);
    std::vector<Points> made{machine.recombined(first, random_)};
    if (smallest_) made.push_back(smallest_->machine.recombined(others, random_));
    if (rare_.size() > 0) {
      std::vector<std::int64_t> rows(kNearRare);
      for (auto& row : rows) row = below(rare_.size());
      auto near = rows_at(rare_, rows);
      for (int changes = 0; changes < 2; ++changes) {
        for (std::int64_t row = 0; row < near.size(); ++row) {
          const auto variable = below(near.width());
          near[row][as_size(variable)] = below(oracle_.worlds().domain(variable));
        }
        made.push_back(near);
      }
    }
    std::vector<PointRows> worlds{drawn, made[0], telling_};
    worlds.insert(worlds.end(), made.begin() + 1, made.end());
    return joined(worlds);
  }

  // Keeps worlds whose outputs few others have.
  void note_rare(PointRows worlds, PointRows outputs) {
    // Rows of outputs by a number that tells them apart.
    const auto few = worlds.size() / kRareShare;
    Random fixed(0);
    std::vector<std::uint64_t> weights(as_size(outputs.width())), keys(as_size(outputs.size()));
    for (auto& weight : weights) weight = fixed.next() | 1;
    std::unordered_map<std::uint64_t, std::int64_t> counts;
    for (std::int64_t row = 0; row < outputs.size(); ++row) {
      auto& key = keys[as_size(row)];
      for (std::size_t output = 0; output < weights.size(); ++output) {
        key += weights[output] * static_cast<std::uint64_t>(outputs[row][output]);
      }
      ++counts[key];
      if (std::ssize(counts) > few) return;
    }
    std::vector<std::int64_t> rare;
    for (std::int64_t row = 0; row < worlds.size() && std::ssize(rare) < kMostRare; ++row) {
      if (counts[keys[as_size(row)]] <= few) rare.push_back(row);
    }
    rare_ = latest(rows_at(worlds, rare), rare_, kMostRare);
  }

  // These worlds before those there were, at most so many.
  static Points latest(PointRows fresh, PointRows before, std::int64_t most) {
    const auto all = joined({fresh, before});
    return Points(all.rows().slice(0, std::min(most, all.size())));
  }

  // Learns from those worlds on which the machine is wrong. Returns their share.
  double learn(LayeredMachine& machine, const Automaton& automaton, PointRows worlds) {
    const auto outputs = oracle_.ask(worlds);
    note_rare(worlds, outputs);
    auto wrong = differing_rows(automaton.run(worlds), outputs);
    if (wrong.empty()) return 0;
    ++rounds_;
    const double share = static_cast<double>(wrong.size()) / static_cast<double>(worlds.size());
    wrong.resize(std::min<std::size_t>(wrong.size(), kLearnedAtOnce));
    const auto some = rows_at(worlds, wrong);
    machine.learn(some, rows_at(outputs, wrong));
    telling_ = latest(some, telling_, kMostTelling);
    return share;
  }

  // From worlds that are drawn once, when the machine does not change any more, and reported whatever they say; the
  // limits do not count here, since what was found without its certificate would be worth nothing.
  std::optional<DistanceBound> certify(const Facts& facts) {
    const auto& problem = oracle_.problem();
    // The problem outlives this; what is made here only borrows it.
    const std::shared_ptr<const Problem> borrowed(std::shared_ptr<void>(), &problem);
    return certify_facts(*with_facts(borrowed, facts), source_, draws_, random_);
  }

  Oracle oracle_;
  DiscoverOptions options_;
  std::uint64_t seed_;
  WorldSource source_;
  std::function<void(const std::string&)> say_;
  double said_ = 0;  // when
  Random random_;
  std::optional<Candidate> best_;
  std::optional<Attempt> smallest_;  // once one is right
  Points telling_, rare_;            // worlds that told a machine from c, and those whose outputs few others have
  std::int64_t rounds_ = 0, draws_ = 0;
};

// Whether each variable is there once.
bool is_order(std::vector<std::int64_t> order, std::int64_t variables) {
  std::ranges::sort(order);
  std::vector<std::int64_t> all(as_size(variables));
  std::iota(all.begin(), all.end(), 0);
  return order == all;
}

}  // namespace

Discovery discover_again(const Problem& problem, const Automaton& automaton, PointRows worlds,
                         const DiscoverOptions& options, std::uint64_t seed) {
  const WorldSource usual{mixed_worlds_of(problem.worlds()), kUsualBeliefs};
  return Search(problem, options, seed, usual, {}).run(automaton.reading().read(), worlds);
}

std::optional<DistanceBound> certify_facts(const Problem& problem, const WorldSource& source, std::int64_t draws,
                                           Random& random) {
  const auto* const automaton = problem.facts().find<Automaton>();
  const auto* const tables = problem.facts().find<OutputTables>();
  if (automaton == nullptr && tables == nullptr) return std::nullopt;
  const auto worlds = source.draw(draws, random);
  const auto said = automaton != nullptr ? automaton->run(worlds) : look_up(*tables, worlds, problem.worlds());
  DistanceBound certificate{.draws = draws, .beliefs = source.name};
  certificate.differing = std::ssize(differing_rows(said, apply(problem, worlds)));
  certificate.bound = upper_bound_of_share(certificate.differing, draws, certificate.level);
  return certificate;
}

Discovery discover(const Problem& problem, const DiscoverOptions& options, std::uint64_t seed,
                   const std::optional<WorldSource>& source, const std::function<void(const std::string&)>& say) {
  const auto variables = problem.worlds().variables();
  if (!options.order.empty() && !is_order(options.order, variables)) {
    throw UsageError(fmt::format("order: each of the variables 0 to {} once is expected", variables - 1));
  }
  const WorldSource usual{mixed_worlds_of(problem.worlds()), kUsualBeliefs};
  Search search(problem, options, seed, source.value_or(usual), say);
  return options.order.empty() ? search.run() : search.run(options.order);
}

}  // namespace anesi
