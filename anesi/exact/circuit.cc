#include "anesi/exact/circuit.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "anesi/core/error.h"

namespace anesi {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
// Counts below this are taken again as logarithms: what underflowed on the way might matter beside them. Above it it
// cannot, since the weights of each variable's two literals are first made to sum to one: what underflowed is then at
// most a part in 10^58 for each node.
constexpr double kSmallestCount = 1e-250;

template <typename Values>
double log_sum(const Values& values) {
  const double largest = *std::ranges::max_element(values);
  if (largest == kImpossible) return kImpossible;
  double sum = 0;
  for (const auto value : values) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

}  // namespace

double Circuit::Counts::share(std::size_t part, std::size_t sum) const {
  return logarithms ? std::exp(values[part] - values[sum]) : values[part] / values[sum];
}

double Circuit::count(const Weights& weights, Counts& counts) const {
  if (nodes_.empty()) return kImpossible;
  Weights shares(places(), 0);
  double scale = 0;  // the logarithm of what the weights were divided by
  for (int variable = 1; variable <= variables_; ++variable) {
    const auto is = weights[place_of(variable)], is_not = weights[place_of(-variable)];
    const auto larger = std::max(is, is_not);
    if (larger == kImpossible) return kImpossible;
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
  if (total == kImpossible) return total;
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
  if (count(weights, counts) == kImpossible) return 0;
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
  if (nodes_.empty()) return kImpossible;
  std::vector<double> best(nodes_.size(), 0);
  for (std::size_t index = 0; index < nodes_.size(); ++index) {
    const auto& node = nodes_[index];
    if (node.kind == Kind::kLiteral) {
      best[index] = weights[place_of(node.literal)];
    } else if (node.kind == Kind::kProduct) {
      for (const auto part : parts_of(node)) best[index] += best[static_cast<std::size_t>(part)];
    } else {
      best[index] = kImpossible;
      for (const auto part : parts_of(node)) best[index] = std::max(best[index], best[static_cast<std::size_t>(part)]);
    }
  }
  if (best.back() == kImpossible) return kImpossible;
  descend(model, [&](std::size_t, std::span<const std::int32_t> parts) {
    return *std::ranges::max_element(parts, {},
                                     [&](std::int32_t part) { return best[static_cast<std::size_t>(part)]; });
  });
  return best.back();
}

void Circuit::sample_model(const Weights& weights, std::vector<bool>& model,
                           const std::function<double()>& uniform) const {
  Counts counts;
  if (count(weights, counts) == kImpossible) throw Error("no world of positive probability gives the output");
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

namespace {

// A small file can describe a circuit that takes much memory and time once all its parts are over the same variables.
constexpr std::size_t kMostWords = std::size_t{1} << 26;        // of variables' bits: 512 MiB
constexpr std::size_t kMostParts = std::size_t{1} << 26;        // 256 MiB
constexpr std::size_t kMostNodes = std::size_t{1} << 24;        // 256 MiB
constexpr std::size_t kMostComparisons = std::size_t{1} << 33;  // of words of bits: some seconds

}  // namespace

CircuitBuilder::CircuitBuilder(int variables) : variables_(variables) {
  if (variables < 1) throw Error("circuit: a formula without variables");
  place_.assign(static_cast<std::size_t>(variables) + 1, -1);
}

CircuitBuilder::Variables CircuitBuilder::variables_of(Part part) const {
  const auto& node = nodes_[static_cast<std::size_t>(part)];
  return {node.first, std::span(bits_).subspan(node.begin, node.words)};
}

CircuitBuilder::Part CircuitBuilder::add(Circuit::Kind kind, int literal, std::vector<Part> parts) {
  std::size_t first = std::numeric_limits<std::size_t>::max(), end = 0, place = 0;
  if (literal != 0) {
    auto& its = place_[static_cast<std::size_t>(std::abs(literal))];
    if (its < 0) {
      its = static_cast<std::int32_t>(order_.size());
      order_.push_back(std::abs(literal));
    }
    place = static_cast<std::size_t>(its);
    first = place / 64;
    end = first + 1;
  }
  comparisons_ += 1;
  for (const auto part : parts) {
    const auto its = variables_of(part);
    first = std::min(first, its.first);
    end = std::max(end, its.first + its.words.size());
    comparisons_ += its.words.size();
  }
  if (bits_.size() + (end - first) > kMostWords || comparisons_ > kMostComparisons || nodes_.size() >= kMostNodes) {
    throw Error(fmt::format("circuit: too large, {} nodes over {} variables", nodes_.size() + 1, order_.size()));
  }
  const auto begin = bits_.size();
  bits_.resize(begin + (end - first), 0);
  const auto together = std::span(bits_).subspan(begin);
  if (literal != 0) together[0] = std::uint64_t{1} << (place % 64);
  for (const auto part : parts) {
    const auto its = variables_of(part);
    for (std::size_t word = 0; word < its.words.size(); ++word) {
      auto& all = together[its.first + word - first];
      if (const auto shared = all & its.words[word]; kind == Circuit::Kind::kProduct && shared != 0) {
        const auto at = (its.first + word) * 64 + static_cast<std::size_t>(std::countr_zero(shared));
        bits_.resize(begin);
        throw Error(fmt::format("circuit: two parts of a product share variable {}", order_[at]));
      }
      all |= its.words[word];
    }
  }
  nodes_.push_back({kind, literal, std::move(parts), begin, first, end - first});
  return static_cast<Part>(nodes_.size()) - 1;
}

CircuitBuilder::Part CircuitBuilder::literal(int literal) {
  if (literal == 0 || std::abs(std::int64_t{literal}) > variables_) {
    throw Error(fmt::format("circuit: there is no literal {} among {} variables", literal, variables_));
  }
  const auto [place, fresh] = literals_.try_emplace(literal, 0);
  if (fresh) place->second = add(Circuit::Kind::kLiteral, literal, {});
  return place->second;
}

CircuitBuilder::Part CircuitBuilder::product(std::vector<Part> parts) {
  if (std::ranges::find(parts, kFalse) != parts.end()) return kFalse;
  std::erase(parts, kTrue);
  if (parts.empty()) return kTrue;
  return parts.size() == 1 ? parts[0] : add(Circuit::Kind::kProduct, 0, std::move(parts));
}

CircuitBuilder::Part CircuitBuilder::sum(std::vector<Part> parts) {
  std::erase(parts, kFalse);
  if (parts.empty()) return kFalse;
  if (std::ranges::find(parts, kTrue) != parts.end()) {
    if (parts.size() > 1) throw Error("circuit: a sum of something that is always true and something else");
    return kTrue;
  }
  return parts.size() == 1 ? parts[0] : add(Circuit::Kind::kSum, 0, std::move(parts));
}

Circuit CircuitBuilder::build(Part top) const {
  Circuit circuit;
  circuit.variables_ = variables_;
  if (top == kFalse) return circuit;
  const auto put = [&](Circuit::Kind kind, int literal, const std::vector<Part>& parts) {
    if (circuit.parts_.size() + parts.size() > kMostParts || circuit.nodes_.size() >= kMostNodes) {
      throw Error(fmt::format("circuit: too large, more than {} nodes or {} parts", kMostNodes, kMostParts));
    }
    const auto begin = static_cast<std::int32_t>(circuit.parts_.size());
    circuit.parts_.insert(circuit.parts_.end(), parts.begin(), parts.end());
    circuit.nodes_.push_back({kind, literal, begin, static_cast<std::int32_t>(circuit.parts_.size())});
    return static_cast<Part>(circuit.nodes_.size()) - 1;
  };
  std::vector<Part> literals(circuit.places(), kFalse);
  const auto put_literal = [&](int literal) {
    auto& place = literals[circuit.place_of(literal)];
    if (place == kFalse) place = put(Circuit::Kind::kLiteral, literal, {});
    return place;
  };
  // Anything at all over some variables: a tree over blocks of their order, so that sets share what they have in
  // common.
  auto order = order_;
  for (int variable = 1; variable <= variables_; ++variable) {
    if (place_[static_cast<std::size_t>(variable)] < 0) order.push_back(variable);
  }
  std::vector<Part> either(order.size(), kFalse);
  std::map<std::pair<std::size_t, std::uint64_t>, Part> of_word;
  std::map<std::pair<Part, Part>, Part> of_pair;
  const auto put_word = [&](std::size_t word, std::uint64_t bits) {
    if (bits == 0) return kTrue;
    const auto [known, fresh] = of_word.try_emplace({word, bits}, 0);
    if (!fresh) return known->second;
    std::vector<Part> parts;
    for (auto left = bits; left != 0; left &= left - 1) {
      const auto place = word * 64 + static_cast<std::size_t>(std::countr_zero(left));
      if (either[place] == kFalse) {
        const auto is = put_literal(order[place]), is_not = put_literal(-order[place]);
        either[place] = put(Circuit::Kind::kSum, 0, {is, is_not});
      }
      parts.push_back(either[place]);
    }
    return known->second = parts.size() == 1 ? parts[0] : put(Circuit::Kind::kProduct, 0, parts);
  };
  const auto put_both = [&](Part left, Part right) {
    if (left == kTrue || right == kTrue) return left == kTrue ? right : left;
    const auto [known, fresh] = of_pair.try_emplace({left, right}, 0);
    if (fresh) known->second = put(Circuit::Kind::kProduct, 0, {left, right});
    return known->second;
  };
  const auto put_anything = [&](const Variables& variables) {
    auto first = variables.first;
    std::vector<Part> row;  // of blocks from the first on
    for (std::size_t word = 0; word < variables.words.size(); ++word) {
      row.push_back(put_word(first + word, variables.words[word]));
    }
    for (std::vector<Part> pairs; row.size() > 1; first /= 2, row.swap(pairs)) {
      pairs.clear();
      if (first % 2 == 1) row.insert(row.begin(), kTrue);
      if (row.size() % 2 == 1) row.push_back(kTrue);
      for (std::size_t left = 0; left < row.size(); left += 2) pairs.push_back(put_both(row[left], row[left + 1]));
    }
    return row[0];
  };
  // A part over more variables than its own.
  std::vector<std::uint64_t> missing;
  const auto widen = [&](Part placed, const Variables& its, const Variables& all) {
    missing.clear();
    for (std::size_t word = 0; word < all.words.size(); ++word) {
      missing.push_back(all.words[word] & ~its.at(all.first + word));
    }
    const bool any = std::ranges::any_of(missing, [](std::uint64_t word) { return word != 0; });
    return any ? put(Circuit::Kind::kProduct, 0, {placed, put_anything({all.first, missing})}) : placed;
  };

  std::vector<std::uint64_t> every_bit((order.size() + 63) / 64, ~std::uint64_t{0});
  if (order.size() % 64 != 0) every_bit.back() = (std::uint64_t{1} << (order.size() % 64)) - 1;
  const Variables every{0, every_bit};
  if (top == kTrue) {
    put_anything(every);
    return circuit;
  }
  std::vector<char> needed(nodes_.size(), 0);
  needed[static_cast<std::size_t>(top)] = 1;
  for (auto index = static_cast<std::size_t>(top) + 1; index-- > 0;) {
    if (needed[index] == 0) continue;
    for (const auto part : nodes_[index].parts) needed[static_cast<std::size_t>(part)] = 1;
  }
  std::vector<Part> placed(nodes_.size(), kFalse);
  for (std::size_t index = 0; index <= static_cast<std::size_t>(top); ++index) {
    if (needed[index] == 0) continue;
    const auto& node = nodes_[index];
    if (node.kind == Circuit::Kind::kLiteral) {
      placed[index] = put_literal(node.literal);
      continue;
    }
    std::vector<Part> parts;
    for (const auto part : node.parts) {
      auto place = placed[static_cast<std::size_t>(part)];
      if (node.kind == Circuit::Kind::kSum) {
        place = widen(place, variables_of(part), variables_of(static_cast<Part>(index)));
      }
      parts.push_back(place);
    }
    placed[index] = put(node.kind, node.literal, parts);
  }
  const auto whole = widen(placed[static_cast<std::size_t>(top)], variables_of(top), every);
  if (whole + 1 != static_cast<Part>(circuit.nodes_.size())) put(Circuit::Kind::kProduct, 0, {whole});
  return circuit;
}

}  // namespace anesi
