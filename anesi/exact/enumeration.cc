#include "anesi/exact/enumeration.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "anesi/core/deterministic.h"
#include "anesi/core/error.h"
#include "anesi/core/index.h"
#include "anesi/core/thread_pool.h"
#include "anesi/exact/backends.h"

namespace anesi {
namespace {

constexpr std::int64_t kWorldsAtOnce = 1 << 14;
// Products of likelihoods are taken as such if they add up to this. What underflows beside it does not count.
constexpr double kSmallestSum = 1e-200;

// Every output that there is, in lexicographic order, and which of them each world gives.
struct Outputs {
  Points distinct;
  std::vector<std::int32_t> of_world;
};

// Numbers in the place of larger ones, in the same order.
std::uint64_t rank(std::vector<std::uint64_t>& codes) {
  auto sorted = codes;
  std::ranges::sort(sorted);
  const auto repeated = std::ranges::unique(sorted);
  sorted.erase(repeated.begin(), repeated.end());
  for (auto& code : codes) code = static_cast<std::uint64_t>(std::ranges::lower_bound(sorted, code) - sorted.begin());
  return sorted.size();
}

Outputs outputs_of_all_worlds(const Problem& problem) {
  const auto& worlds = problem.worlds();
  const auto& outputs = problem.outputs();
  const auto count = static_cast<std::int64_t>(worlds.points());
  Points given(count, outputs.variables(), kNone);
  Points some(std::min(count, kWorldsAtOnce), worlds.variables());
  std::int64_t filled = 0, done = 0;
  const auto ask = [&] {
    problem.apply(some.rows().slice(0, filled), given.rows().slice(done, done + filled));
    done += filled;
    filled = 0;
  };
  worlds.for_each_point([&](Values world) {
    std::ranges::copy(world, some[filled].begin());
    if (++filled == some.size()) ask();
  });
  if (filled > 0) ask();

  std::vector<std::uint64_t> codes(as_size(count), 0);
  double largest = 1;
  for (std::int64_t variable = 0; variable < outputs.variables(); ++variable) {
    const auto values = static_cast<std::uint64_t>(outputs.domain(variable)) + 1;  // and kNone
    if (largest * static_cast<double>(values) > 0x1p62) largest = static_cast<double>(rank(codes));
    largest *= static_cast<double>(values);
    for (std::int64_t world = 0; world < count; ++world) {
      auto& code = codes[as_size(world)];
      code = code * values + static_cast<std::uint64_t>(given[world][as_size(variable)] + 1);
    }
  }
  const auto found = static_cast<std::int64_t>(rank(codes));
  Outputs result{Points(found, outputs.variables()), std::vector<std::int32_t>(as_size(count))};
  for (std::int64_t world = 0; world < count; ++world) {
    const auto place = static_cast<std::int64_t>(codes[as_size(world)]);
    result.of_world[as_size(world)] = static_cast<std::int32_t>(place);
    std::ranges::copy(given[world], result.distinct[place].begin());
  }
  return result;
}

// Worlds are the product of two halves of their variables, and so are their likelihoods: a table for each half is all
// that has to be computed of a belief.
class Half {
 public:
  Half(const Space& worlds, std::int64_t begin, std::int64_t end) : begin_(begin), end_(end) {
    for (auto variable = begin; variable < end; ++variable) {
      domains_.push_back(worlds.domain(variable));
      points_ *= domains_.back();
    }
  }
  std::int64_t points() const { return points_; }

  // log of the likelihood of each of its points.
  void weigh(const double* logs, std::int64_t width, std::vector<double>& weights) const {
    weights.assign(as_size(points_), 0);
    std::int64_t size = 1;
    for (auto variable = begin_; variable < end_; ++variable) {
      const auto domain = domains_[as_size(variable - begin_)];
      const double* const of_values = logs + variable * width;
      for (auto before = size - 1; before >= 0; --before) {
        const double weight = weights[as_size(before)];
        for (auto value = domain - 1; value >= 0; --value) {
          weights[as_size(before * domain + value)] = weight + of_values[value];
        }
      }
      size *= domain;
    }
  }

  // Adds the share of each point to those of its values.
  void add_to_values(const std::vector<double>& shares, std::int64_t width, double* gradient) const {
    auto block = points_;
    for (auto variable = begin_; variable < end_; ++variable) {
      const auto domain = domains_[as_size(variable - begin_)];
      block /= domain;
      double* const of_values = gradient + variable * width;
      std::int64_t value = 0;
      for (std::int64_t point = 0; point < points_; point += block) {
        of_values[value] += std::accumulate(shares.begin() + point, shares.begin() + point + block, 0.0);
        if (++value == domain) value = 0;
      }
    }
  }

  void write(std::int64_t point, std::int64_t* world) const {
    for (auto variable = end_; variable-- > begin_;) {
      const auto domain = domains_[as_size(variable - begin_)];
      world[variable] = point % domain;
      point /= domain;
    }
  }

 private:
  std::int64_t begin_, end_, points_ = 1;
  std::vector<std::int64_t> domains_;
};

// The number of variables in the first half, so that both have about as many points.
std::int64_t middle(const Space& worlds) {
  double points = 1;
  std::int64_t variable = 0;
  while (variable < worlds.variables() && points * points < worlds.points()) {
    points *= static_cast<double>(worlds.domain(variable++));
  }
  return variable;
}

// In a batch; the fastest of a few, since a busy machine makes any call slow now and then.
double seconds_a_call(const Problem& problem) {
  constexpr std::int64_t kAsked = 16;
  Random random(0);
  const auto worlds = random_points(problem.worlds(), kAsked, random);
  double fastest = std::numeric_limits<double>::infinity();
  for (int time = 0; time < 3 && fastest > 1e-3; ++time) {
    const auto begin = std::chrono::steady_clock::now();
    apply(problem, worlds);
    fastest = std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return fastest / static_cast<double>(kAsked);
}

class Enumeration final : public Backend {
 public:
  static std::optional<BackendCost> applies(const Problem& problem, const ExactOptions&) {
    const double worlds = problem.worlds().points();
    if (worlds > kMostWorldsEnumerated) return std::nullopt;
    const auto outputs = static_cast<double>(problem.outputs().variables());
    return BackendCost{
        .seconds = worlds * seconds_a_call(problem), .operations = worlds, .bytes = worlds * 8 * (outputs + 3)};
  }
  Enumeration(const Problem& problem, const ExactOptions&) : Enumeration(problem) {}
  explicit Enumeration(const Problem& problem)
      : Backend(problem.worlds(), problem.outputs()),
        first_(problem.worlds(), 0, middle(problem.worlds())),
        second_(problem.worlds(), middle(problem.worlds()), problem.worlds().variables()) {
    if (problem.worlds().points() > kMostWorldsEnumerated) {
      throw Error(fmt::format("enumeration: there are {:.3g} worlds; it takes up to {:.3g}", problem.worlds().points(),
                              kMostWorldsEnumerated));
    }
    require_deterministic(problem);
    auto [distinct, of_world] = outputs_of_all_worlds(problem);
    distinct_ = std::move(distinct);
    begins_.assign(as_size(distinct_.size()) + 1, 0);
    for (const auto output : of_world) ++begins_[as_size(output) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    worlds_.resize(of_world.size());
    auto next = begins_;
    for (std::size_t world = 0; world < of_world.size(); ++world) {
      const auto index = static_cast<std::int64_t>(world);
      worlds_[as_size(next[as_size(of_world[world])]++)] = {static_cast<std::int32_t>(index / second_.points()),
                                                            static_cast<std::int32_t>(index % second_.points())};
    }
    for (const auto value : distinct_.values()) ends_ = ends_ || value == kNone;
  }

  bool lists_worlds() const override { return true; }
  bool has_outputs_that_end() const override { return ends_; }

 private:
  struct World {
    std::int32_t first, second;  // which point of each half
  };
  using Listed = std::vector<std::span<const World>>;
  struct Weighed {
    std::vector<double> first, second;              // logarithms
    std::vector<double> first_share, second_share;  // relative to the largest
    double largest = 0;                             // the logarithm of that
    double log_of(const World& world) const { return first[as_size(world.first)] + second[as_size(world.second)]; }
    double share_of(const World& world) const {
      return first_share[as_size(world.first)] * second_share[as_size(world.second)];
    }
  };

  void find_log_prob(const Query& query, std::span<double> log_probs, GradientRows gradient) const override {
    sum_over(query, log_probs, gradient, /*others=*/false);
  }
  void find_log_prob_of_others(const Query& query, std::span<double> log_probs, GradientRows gradient) const override {
    sum_over(query, log_probs, gradient, /*others=*/true);
  }

  void sum_over(const Query& query, std::span<double> log_probs, GradientRows gradient, bool others) const {
    for_each_row(query, others, [&](std::int64_t row, const Weighed& weighed, const Listed& listed) {
      auto& log_prob = log_probs[as_size(row)];
      log_prob = log_of_sum(weighed, listed);
      if (gradient.empty() || log_prob == kLogOfZero) return;
      std::vector<double> first(as_size(first_.points()), 0), second(as_size(second_.points()), 0);
      const auto add = [&](auto share_of) {
        for (const auto& worlds : listed) {
          for (const auto& world : worlds) {
            const double share = share_of(world);
            first[as_size(world.first)] += share;
            second[as_size(world.second)] += share;
          }
        }
      };
      const double scale = std::exp(weighed.largest - log_prob);
      if (is_large(log_prob, weighed)) {
        add([&](const World& world) { return weighed.share_of(world) * scale; });
      } else {
        add([&](const World& world) { return std::exp(weighed.log_of(world) - log_prob); });
      }
      first_.add_to_values(first, query.logs.width, gradient.row(row));
      second_.add_to_values(second, query.logs.width, gradient.row(row));
    });
  }

  static bool is_large(double log_sum, const Weighed& weighed) {
    return log_sum - weighed.largest > std::log(kSmallestSum);
  }

  static double log_of_sum(const Weighed& weighed, const Listed& listed) {
    double sum = 0;
    for (const auto& worlds : listed) {
      for (const auto& world : worlds) sum += weighed.share_of(world);
    }
    if (sum > kSmallestSum) return weighed.largest + std::log(sum);
    double largest = kLogOfZero;
    for (const auto& worlds : listed) {
      for (const auto& world : worlds) largest = std::max(largest, weighed.log_of(world));
    }
    if (largest == kLogOfZero) return kLogOfZero;
    sum = 0;
    for (const auto& worlds : listed) {
      for (const auto& world : worlds) sum += std::exp(weighed.log_of(world) - largest);
    }
    return largest + std::log(sum);
  }

  void find_most_probable(const Query& query, MutablePointRows worlds, std::span<double> log_probs) const override {
    for_each_row(query, false, [&](std::int64_t row, const Weighed& weighed, const Listed& listed) {
      const World* best = nullptr;
      double largest = kLogOfZero;
      for (const auto& some : listed) {
        for (const auto& world : some) {
          if (weighed.log_of(world) > largest) std::tie(best, largest) = std::pair(&world, weighed.log_of(world));
        }
      }
      log_probs[as_size(row)] = largest;
      if (best != nullptr) write(*best, worlds[row].data());
    });
  }

  std::vector<RankedPoints> rank_worlds(const Query& query, std::int64_t top) const override {
    std::vector<RankedPoints> ranked(as_size(query.size()));
    for_each_row(query, false, [&](std::int64_t row, const Weighed& weighed, const Listed& listed) {
      std::vector<std::pair<double, const World*>> all;
      for (const auto& some : listed) {
        for (const auto& world : some) {
          if (weighed.log_of(world) > kLogOfZero) all.emplace_back(-weighed.log_of(world), &world);
        }
      }
      const auto found = std::min(top, std::ssize(all));
      std::partial_sort(all.begin(), all.begin() + found, all.end());
      auto& [points, log_probs, proven] = ranked[as_size(row)];
      points = Points(found, worlds().variables());
      for (std::int64_t place = 0; place < found; ++place) {
        write(*all[as_size(place)].second, points[place].data());
        log_probs.push_back(-all[as_size(place)].first);
      }
    });
    return ranked;
  }

  std::vector<RankedPoints> rank_outputs(LogBeliefRows logs, std::int64_t top) const override {
    std::vector<RankedPoints> ranked(as_size(logs.size));
    parallel_for(logs.size, 1, [&](std::int64_t begin, std::int64_t end) {
      Weighed weighed;
      for (auto row = begin; row < end; ++row) {
        weigh(logs, row, weighed);
        std::vector<std::pair<double, std::int64_t>> all;
        for (std::int64_t output = 0; output < distinct_.size(); ++output) {
          const double log_prob = log_of_sum(weighed, {worlds_of(output)});
          if (log_prob > kLogOfZero) all.emplace_back(-log_prob, output);
        }
        const auto found = std::min(top, std::ssize(all));
        std::partial_sort(all.begin(), all.begin() + found, all.end());
        auto& [points, log_probs, proven] = ranked[as_size(row)];
        points = Points(found, outputs().variables());
        for (std::int64_t place = 0; place < found; ++place) {
          std::ranges::copy(distinct_[all[as_size(place)].second], points[place].begin());
          log_probs.push_back(-all[as_size(place)].first);
        }
      }
    });
    return ranked;
  }

  void draw(const Query& query, std::span<Random> randoms, MutablePointRows worlds) const override {
    for_each_row(query, false, [&](std::int64_t row, const Weighed& weighed, const Listed& listed) {
      const double log_prob = log_of_sum(weighed, listed);
      if (log_prob == kLogOfZero) throw Error("no world of positive probability gives the output");
      double left = randoms[as_size(row)].uniform();
      const World* chosen = nullptr;
      for (const auto& some : listed) {
        for (const auto& world : some) {
          const double share = std::exp(weighed.log_of(world) - log_prob);
          if (share == 0) continue;
          chosen = &world;
          left -= share;
          if (left < 0) break;
        }
        if (left < 0) break;
      }
      write(*chosen, worlds[row].data());
    });
  }

  void write(const World& world, std::int64_t* values) const {
    first_.write(world.first, values);
    second_.write(world.second, values);
  }

  std::span<const World> worlds_of(std::int64_t output) const {
    return std::span(worlds_).subspan(as_size(begins_[as_size(output)]),
                                      as_size(begins_[as_size(output) + 1] - begins_[as_size(output)]));
  }

  // The worlds that give what is asked for, or all others.
  Listed list(Values asked, bool others) const {
    const bool whole = std::ranges::all_of(asked, [](std::int64_t value) { return value >= kNone; });
    if (whole && !others) {
      const auto place = find(asked);
      return place < 0 ? Listed() : Listed{worlds_of(place)};
    }
    Listed listed;
    for (std::int64_t output = 0; output < distinct_.size(); ++output) {
      const auto values = distinct_[output];
      bool agrees = true;
      for (std::size_t variable = 0; agrees && variable < asked.size(); ++variable) {
        agrees = admits(asked[variable], values[variable]);
      }
      if (agrees != others) listed.push_back(worlds_of(output));
    }
    return listed;
  }

  // Which of the outputs it is, -1 if no world gives it.
  std::int64_t find(Values output) const {
    std::int64_t low = 0, high = distinct_.size();
    while (low < high) {
      const auto place = (low + high) / 2;
      if (std::ranges::lexicographical_compare(distinct_[place], output)) {
        low = place + 1;
      } else {
        high = place;
      }
    }
    return low < distinct_.size() && std::ranges::equal(distinct_[low], output) ? low : -1;
  }

  void weigh(const LogBeliefRows& logs, std::int64_t row, Weighed& weighed) const {
    const auto relative = [](const std::vector<double>& weights, std::vector<double>& shares) {
      const double largest = *std::ranges::max_element(weights);
      shares.resize(weights.size());
      for (std::size_t place = 0; place < weights.size(); ++place) {
        shares[place] = largest == kLogOfZero ? 0 : std::exp(weights[place] - largest);
      }
      return largest;
    };
    first_.weigh(logs.row(row), logs.width, weighed.first);
    second_.weigh(logs.row(row), logs.width, weighed.second);
    weighed.largest = relative(weighed.first, weighed.first_share) + relative(weighed.second, weighed.second_share);
  }

  // Calls visit(row, weighed, listed), from several threads.
  template <typename Visit>
  void for_each_row(const Query& query, bool others, Visit visit) const {
    const auto work =
        first_.points() + second_.points() + std::ssize(worlds_) / std::max<std::int64_t>(1, distinct_.size());
    parallel_for(query.size(), 1 + (1 << 15) / work, [&](std::int64_t begin, std::int64_t end) {
      Weighed weighed;
      for (auto row = begin; row < end; ++row) {
        weigh(query.logs, row, weighed);
        visit(row, weighed, list(query.outputs[row], others));
      }
    });
  }

  Half first_, second_;
  Points distinct_;                   // outputs
  std::vector<std::int64_t> begins_;  // of each output's worlds
  std::vector<World> worlds_;         // output by output
  bool ends_ = false;
};

}  // namespace

std::unique_ptr<Backend> make_enumeration_backend(const Problem& problem) {
  return std::make_unique<Enumeration>(problem);
}

ANESI_BACKEND("enumerate", "all worlds of a small problem, listed by their outputs", Enumeration)

}  // namespace anesi
