#include "anesi/logic/circuit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "anesi/core/error.h"

namespace anesi {
namespace {

template <typename Values>
double log_sum(const Values& values) {
  const double largest = *std::ranges::max_element(values);
  if (largest == Circuit::kNoModel) return Circuit::kNoModel;
  double sum = 0;
  for (const auto value : values) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

}  // namespace

double Circuit::Counts::share(std::size_t part, std::size_t sum) const {
  return logarithms ? std::exp(values[part] - values[sum]) : values[part] / values[sum];
}

double Circuit::count(const Weights& weights, Counts& counts) const {
  if (nodes_.empty()) return kNoModel;
  Weights shares(places(), 0);
  double scale = 0;  // the logarithm of what the weights were divided by
  for (int variable = 1; variable <= variables_; ++variable) {
    const auto is = weights[place_of(variable)], is_not = weights[place_of(-variable)];
    const auto larger = std::max(is, is_not);
    if (larger == kNoModel) return kNoModel;
    const auto share = std::exp(is - larger), share_not = std::exp(is_not - larger);
    shares[place_of(variable)] = share / (share + share_not);
    shares[place_of(-variable)] = share_not / (share + share_not);
    scale += larger + std::log(share + share_not);
  }
  auto& values = counts.values;
  values.resize(nodes_.size());
  counts.logarithms = false;
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const auto& node = nodes_[index];
    if (node.kind == Kind::kLiteral) {
      values[index] = shares[place_of(node.literal)];
    } else if (node.kind == Kind::kProduct) {
      double product = 1;
      for (const auto part : parts_of(node)) product *= values[static_cast<std::size_t>(part)];
      values[index] = product;
    } else {
      double sum = 0;
      for (const auto part : parts_of(node)) sum += values[static_cast<std::size_t>(part)];
      values[index] = sum;
    }
  }
  if (values.back() >= kSmallestCount) return std::log(values.back()) + scale;
  counts.logarithms = true;
  std::vector<double> terms;
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const auto& node = nodes_[index];
    if (node.kind == Kind::kLiteral) {
      values[index] = weights[place_of(node.literal)];
      continue;
    }
    terms.clear();
    for (const auto part : parts_of(node)) terms.push_back(values[static_cast<std::size_t>(part)]);
    double sum = 0;
    for (const auto term : terms) sum += term;
    values[index] = node.kind == Kind::kProduct ? sum : log_sum(terms);
  }
  return values.back();
}

double Circuit::models() const {
  std::vector<double> models(nodes_.size());
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const bool is_sum = nodes_[index].kind == Kind::kSum;
    models[index] = is_sum ? 0 : 1;
    for (const auto part : parts_of(nodes_[index])) {
      const auto its = models[static_cast<std::size_t>(part)];
      models[index] = is_sum ? models[index] + its : models[index] * its;
    }
  }
  return models.empty() ? 0 : models.back();
}

double Circuit::log_count(const Weights& weights) const {
  Counts counts;
  return count(weights, counts);
}

double Circuit::log_count(const Weights& weights, Weights& derivative) const {
  derivative.assign(weights.size(), 0);
  Counts counts;
  const auto total = count(weights, counts);
  if (total == kNoModel) return total;
  std::vector<double> flow(nodes_.size(), 0);
  flow.back() = 1;
  for (auto index = nodes_.size(); index-- > 0;) {
    const auto& node = nodes_[index];
    if (flow[index] == 0) continue;
    if (node.kind == Kind::kLiteral) {
      derivative[place_of(node.literal)] += flow[index];
    } else if (node.kind == Kind::kProduct) {
      for (const auto part : parts_of(node)) flow[static_cast<std::size_t>(part)] += flow[index];
    } else {
      for (const auto part : parts_of(node)) {
        const auto place = static_cast<std::size_t>(part);
        flow[place] += flow[index] * counts.share(place, index);
      }
    }
  }
  return total;
}

// Of a sum of parts with shares r_k and entropies H_k it is sum_k r_k (H_k - log r_k), of a product the sum of its
// parts'.
double Circuit::entropy(const Weights& weights, Weights& derivative) const {
  derivative.assign(weights.size(), 0);
  Counts counts;
  if (count(weights, counts) == kNoModel) return 0;
  std::vector<double> entropy(nodes_.size(), 0);
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const auto& node = nodes_[index];
    for (const auto part : parts_of(node)) {
      const auto place = static_cast<std::size_t>(part);
      const auto share = node.kind == Kind::kSum ? counts.share(place, index) : 1;
      if (share > 0) entropy[index] += share * (entropy[place] - std::log(share));  // NaN: the sum has no model
    }
  }
  // How the whole entropy changes with a node's own entropy, and with the logarithm of its count.
  std::vector<double> by_entropy(nodes_.size(), 0), by_count(nodes_.size(), 0);
  by_entropy.back() = 1;
  for (auto index = nodes_.size(); index-- > 0;) {
    const auto& node = nodes_[index];
    if (by_entropy[index] == 0 && by_count[index] == 0) continue;
    if (node.kind == Kind::kLiteral) {
      derivative[place_of(node.literal)] += by_count[index];
      continue;
    }
    for (const auto part : parts_of(node)) {
      const auto place = static_cast<std::size_t>(part);
      const auto share = node.kind == Kind::kSum ? counts.share(place, index) : 1;
      if (!(share > 0)) continue;
      by_entropy[place] += by_entropy[index] * share;
      by_count[place] += by_count[index] * share;
      if (node.kind == Kind::kSum) {
        by_count[place] += by_entropy[index] * share * (entropy[place] - std::log(share) - entropy[index]);
      }
    }
  }
  return entropy.back();
}

template <typename Choose>
void Circuit::descend(std::vector<bool>& model, Choose choose) const {
  model.assign(static_cast<std::size_t>(variables_) + 1, false);
  std::vector<std::int32_t> open{static_cast<std::int32_t>(nodes_.size()) - 1};
  while (!open.empty()) {
    const auto index = static_cast<std::size_t>(open.back());
    const auto& node = nodes_[index];
    open.pop_back();
    if (node.kind == Kind::kLiteral) {
      model[static_cast<std::size_t>(std::abs(node.literal))] = node.literal > 0;
    } else if (node.kind == Kind::kProduct) {
      open.insert(open.end(), parts_.begin() + node.begin, parts_.begin() + node.end);
    } else {
      open.push_back(choose(index, parts_of(node)));
    }
  }
}

double Circuit::best_model(const Weights& weights, std::vector<bool>& model) const {
  model.assign(static_cast<std::size_t>(variables_) + 1, false);
  if (nodes_.empty()) return kNoModel;
  std::vector<double> best(nodes_.size(), 0);
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const auto& node = nodes_[index];
    if (node.kind == Kind::kLiteral) {
      best[index] = weights[place_of(node.literal)];
    } else if (node.kind == Kind::kProduct) {
      for (const auto part : parts_of(node)) best[index] += best[static_cast<std::size_t>(part)];
    } else {
      best[index] = kNoModel;
      for (const auto part : parts_of(node)) best[index] = std::max(best[index], best[static_cast<std::size_t>(part)]);
    }
  }
  if (best.back() == kNoModel) return kNoModel;
  descend(model, [&](std::size_t, std::span<const std::int32_t> parts) {
    return *std::ranges::max_element(parts, {},
                                     [&](std::int32_t part) { return best[static_cast<std::size_t>(part)]; });
  });
  return best.back();
}

void Circuit::sample_model(const Weights& weights, std::vector<bool>& model,
                           const std::function<double()>& uniform) const {
  Counts counts;
  if (count(weights, counts) == kNoModel) throw Error("no world of positive probability gives the output");
  descend(model, [&](std::size_t sum, std::span<const std::int32_t> parts) {
    double left = uniform();
    auto chosen = parts.front();
    for (const auto part : parts) {
      const auto share = counts.share(static_cast<std::size_t>(part), sum);
      if (share == 0) continue;
      chosen = part;
      left -= share;
      if (left < 0) break;
    }
    return chosen;
  });
}

bool Circuit::restrict_to_models(OfLiterals<char>& may_be_true) const {
  if (nodes_.empty()) {
    std::ranges::fill(may_be_true, 0);
    return false;
  }
  std::vector<char> possible(nodes_.size(), 0);
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const auto& node = nodes_[index];
    const auto is_possible = [&](std::int32_t part) { return possible[static_cast<std::size_t>(part)] != 0; };
    possible[index] =
        static_cast<char>(node.kind == Kind::kLiteral   ? may_be_true[place_of(node.literal)] != 0
                          : node.kind == Kind::kProduct ? std::ranges::all_of(parts_of(node), is_possible)
                                                        : std::ranges::any_of(parts_of(node), is_possible));
  }
  std::ranges::fill(may_be_true, 0);
  if (possible.back() == 0) return false;
  std::vector<char> reached(nodes_.size(), 0);
  reached.back() = 1;
  for (auto index = nodes_.size(); index-- > 0;) {
    if (reached[index] == 0) continue;
    const auto& node = nodes_[index];
    if (node.kind == Kind::kLiteral) may_be_true[place_of(node.literal)] = 1;
    for (const auto part : parts_of(node)) {
      if (possible[static_cast<std::size_t>(part)] != 0) reached[static_cast<std::size_t>(part)] = 1;
    }
  }
  return true;
}

}  // namespace anesi
