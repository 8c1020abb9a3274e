#include "anesi/logic/circuit_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <utility>

#include "anesi/core/error.h"

namespace anesi {
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
