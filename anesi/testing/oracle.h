// The truth about a small problem: every answer of exact inference, found by going through all worlds.
//
// For tests. It is written to be checked by eye: plain numbers, one example at a time, one loop over the worlds in each
// answer, nothing clever. All in logarithms of 64 bits, so that no belief is too extreme for it.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "anesi/core/problem.h"

namespace anesi::toys {

// The logarithm of the probability of each value of each variable, [variable][value].
using LogBelief = std::vector<std::vector<double>>;
using Gradient = std::vector<std::vector<double>>;  // of the same shape

// What is known of one example. Both may be there, one alone, or neither.
struct Label {
  std::vector<std::int64_t> output = {};  // kUnset where a variable may have any value; empty: nothing is known of it
  bool holds = true;                      // false: the output is anything but that
  std::vector<std::int64_t> world = {};   // kUnset where a variable is not known; empty: nothing is known of it

  bool tells_all_of_the_world() const { return !world.empty() && std::ranges::find(world, kUnset) == world.end(); }
};

class Oracle {
 public:
  static constexpr double kNever = -std::numeric_limits<double>::infinity();

  struct World {
    std::vector<std::int64_t> world, output;
  };
  struct Ranked {
    std::vector<std::int64_t> values;
    double log_prob;
  };

  // Calls c once for every world.
  explicit Oracle(const Problem& problem) {
    problem.worlds().for_each_point([&](Values world) {
      worlds_.push_back({{world.begin(), world.end()}, apply_to(problem, world)});
    });
  }

  const std::vector<World>& worlds() const { return worlds_; }

  // log p(w|P).
  static double log_prob_of_world(const LogBelief& belief, const std::vector<std::int64_t>& world) {
    double sum = 0;
    for (std::size_t variable = 0; variable < world.size(); ++variable) {
      if (world[variable] != kUnset) sum += belief[variable][static_cast<std::size_t>(world[variable])];
    }
    return sum;
  }

  static bool gives(const World& world, const Label& label) {
    bool same = true;
    for (std::size_t variable = 0; variable < label.output.size(); ++variable) {
      if (label.output[variable] != kUnset && label.output[variable] != world.output[variable]) same = false;
    }
    return label.output.empty() || same == label.holds;
  }
  static bool agrees(const World& world, const Label& label) {
    for (std::size_t variable = 0; variable < label.world.size(); ++variable) {
      if (label.world[variable] != kUnset && label.world[variable] != world.world[variable]) return false;
    }
    return true;
  }

  // What a label is worth:
  //   an output, holding or not           log of the sum of p(w|P) over the worlds that give it, or do not
  //   some variables of the world         log p(w_S|P); with an output, log p(w_S, y|P)
  //   all of the world and its output     log p(w|y,P) = log p(w, y|P) - log p(y|P)
  double log_prob(const LogBelief& belief, const Label& label) const {
    if (label.output.empty()) return log_prob_of_world(belief, label.world);
    const double of_both = log_sum(belief, label);
    if (!label.tells_all_of_the_world() || !label.holds || of_both == kNever) return of_both;
    return of_both - log_sum(belief, {.output = label.output});
  }

  // The derivative of log_prob() by logits whose softmax is the belief; zero where the label is impossible.
  Gradient gradient(const LogBelief& belief, const Label& label) const {
    auto slope = zeros(belief);
    if (log_prob(belief, label) == kNever) return slope;
    if (label.output.empty()) {
      for (std::size_t variable = 0; variable < label.world.size(); ++variable) {
        if (label.world[variable] != kUnset) slope[variable][static_cast<std::size_t>(label.world[variable])] = 1;
      }
    } else {
      slope = marginals(belief, label);
      if (label.tells_all_of_the_world() && label.holds) {
        const auto of_output = marginals(belief, {.output = label.output});
        for_each_value(belief, [&](std::size_t i, std::size_t v) { slope[i][v] -= of_output[i][v]; });
      }
    }
    // By logits: d log P(v) / d logit(u) is [u = v] - P(u).
    for (std::size_t i = 0; i < belief.size(); ++i) {
      double sum = 0;
      for (const double value : slope[i]) sum += value;
      for (std::size_t v = 0; v < belief[i].size(); ++v) slope[i][v] -= sum * std::exp(belief[i][v]);
    }
    return slope;
  }

  // p(w_i = v | label), all zero where the label is impossible.
  Gradient marginals(const LogBelief& belief, const Label& label) const {
    auto result = zeros(belief);
    const double total = log_sum(belief, label);
    if (total == kNever) return result;
    for (const auto& world : worlds_) {
      if (!gives(world, label) || !agrees(world, label)) continue;
      const double share = std::exp(log_prob_of_world(belief, world.world) - total);
      for (std::size_t i = 0; i < belief.size(); ++i) result[i][static_cast<std::size_t>(world.world[i])] += share;
    }
    return result;
  }

  // The worlds behind a label that have positive probability, most probable first, with log p(w|P).
  std::vector<Ranked> ranked_worlds(const LogBelief& belief, const Label& label) const {
    std::vector<Ranked> ranked;
    for (const auto& world : worlds_) {
      if (!gives(world, label) || !agrees(world, label)) continue;
      const double log_prob = log_prob_of_world(belief, world.world);
      if (log_prob > kNever) ranked.push_back({world.world, log_prob});
    }
    return sorted(ranked);
  }

  // The outputs of positive probability, most probable first, with log p(y|P).
  std::vector<Ranked> ranked_outputs(const LogBelief& belief) const {
    std::map<std::vector<std::int64_t>, std::vector<double>> logs;
    for (const auto& world : worlds_) logs[world.output].push_back(log_prob_of_world(belief, world.world));
    std::vector<Ranked> ranked;
    for (const auto& [output, of_worlds] : logs) {
      if (const double log_prob = log_sum_of(of_worlds); log_prob > kNever) ranked.push_back({output, log_prob});
    }
    return sorted(ranked);
  }

  // The entropy of the worlds behind a label, in nats.
  double entropy(const LogBelief& belief, const Label& label) const {
    const double total = log_sum(belief, label);
    double entropy = 0;
    for (const auto& [world, log_prob] : ranked_worlds(belief, label)) {
      entropy -= std::exp(log_prob - total) * (log_prob - total);
    }
    return entropy;
  }

  // log of the sum of p(w|P) over the worlds that a label is true of.
  double log_sum(const LogBelief& belief, const Label& label) const {
    std::vector<double> logs;
    for (const auto& world : worlds_) {
      if (gives(world, label) && agrees(world, label)) logs.push_back(log_prob_of_world(belief, world.world));
    }
    return log_sum_of(logs);
  }

 private:
  static double log_sum_of(const std::vector<double>& logs) {
    double largest = kNever;
    for (const double value : logs) largest = std::max(largest, value);
    if (largest == kNever) return kNever;
    double sum = 0;
    for (const double value : logs) sum += std::exp(value - largest);
    return largest + std::log(sum);
  }
  static Gradient zeros(const LogBelief& belief) {
    Gradient zeros;
    for (const auto& values : belief) zeros.emplace_back(values.size(), 0.0);
    return zeros;
  }
  template <typename Visit>
  static void for_each_value(const LogBelief& belief, Visit visit) {
    for (std::size_t i = 0; i < belief.size(); ++i) {
      for (std::size_t v = 0; v < belief[i].size(); ++v) visit(i, v);
    }
  }
  static std::vector<Ranked> sorted(std::vector<Ranked> ranked) {
    std::ranges::stable_sort(ranked, std::greater{}, &Ranked::log_prob);
    return ranked;
  }

  std::vector<World> worlds_;
};

}  // namespace anesi::toys
