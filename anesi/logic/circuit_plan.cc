#include "anesi/logic/circuit_plan.h"

#include <algorithm>
#include <span>

#include "anesi/core/index.h"

namespace anesi {
namespace {

using Kind = Circuit::Kind;

// A plan while it is built. A node that has only one part left is replaced by that part.
class Planning {
 public:
  explicit Planning(const Circuit& circuit) : circuit_(circuit) {
    plan_.variables = circuit.variables();
    drop_smoothing();
    count_uses();
    for (std::int32_t node = 0; node < nodes(); ++node) {
      if (is(node).uses > 0 && !is_within_a_sum(node)) add(node);
    }
    plan_.formula = slot_of(resolved(nodes() - 1));
  }

  CircuitPlan take() { return std::move(plan_); }

 private:
  static constexpr std::int32_t kTrue = -1;  // in place of a node
  struct Node {
    std::int32_t same_as;      // the node itself, another one, or kTrue
    std::int32_t begin, end;   // of the parts that are left
    std::int32_t uses = 0;     // by nodes that are needed
    bool in_sum_alone = true;  // all uses are
    std::int32_t slot = CircuitPlan::kOne;
  };

  std::int32_t nodes() const { return static_cast<std::int32_t>(circuit_.nodes()); }
  Node& is(std::int32_t node) { return nodes_[as_size(node)]; }
  std::int32_t resolved(std::int32_t node) { return is(node).same_as; }
  std::span<const std::int32_t> parts(std::int32_t node) {
    return std::span(parts_).subspan(as_size(is(node).begin), as_size(is(node).end - is(node).begin));
  }

  void drop_smoothing() {
    for (std::int32_t node = 0; node < nodes(); ++node) {
      const auto kind = circuit_.kind(node);
      const auto begin = std::ssize(parts_);
      for (const auto part : circuit_.parts(node)) {
        const auto left = resolved(part);
        if (kind == Kind::kSum || left != kTrue) parts_.push_back(left);
      }
      const auto count = std::ssize(parts_) - begin;
      auto same_as = node;
      if (kind == Kind::kProduct && count == 0) same_as = kTrue;
      if (kind == Kind::kSum && count == 2 && exclude_each_other(parts_[as_size(begin)], parts_.back()))
        same_as = kTrue;
      if (kind != Kind::kLiteral && count == 1) same_as = parts_.back();
      if (same_as != node) parts_.resize(as_size(begin));
      nodes_.push_back({same_as, static_cast<std::int32_t>(begin), static_cast<std::int32_t>(std::ssize(parts_))});
    }
  }
  bool exclude_each_other(std::int32_t one, std::int32_t other) const {
    const auto is_literal = [&](std::int32_t node) { return node != kTrue && circuit_.kind(node) == Kind::kLiteral; };
    return is_literal(one) && is_literal(other) && circuit_.literal(one) == -circuit_.literal(other);
  }

  void count_uses() {
    if (const auto whole = resolved(nodes() - 1); whole != kTrue) {
      is(whole).uses = 1;
      is(whole).in_sum_alone = false;
    }
    for (auto node = nodes(); node-- > 0;) {
      if (is(node).uses == 0) continue;
      for (const auto part : parts(node)) {
        if (part == kTrue) continue;
        ++is(part).uses;
        is(part).in_sum_alone &= circuit_.kind(node) == Kind::kSum;
      }
    }
  }
  // Such a product needs no slot.
  bool is_within_a_sum(std::int32_t node) {
    return circuit_.kind(node) == Kind::kProduct && is(node).uses == 1 && is(node).in_sum_alone;
  }

  std::int32_t slot_of(std::int32_t node) { return node == kTrue ? CircuitPlan::kOne : is(node).slot; }

  void add(std::int32_t node) {
    const auto kind = circuit_.kind(node);
    if (kind == Kind::kLiteral) {
      is(node).slot = CircuitPlan::slot_of(circuit_.literal(node));
      return;
    }
    std::vector<CircuitPlan::Product> terms;
    if (kind == Kind::kProduct) {
      terms.push_back(as_two(node));
    } else {
      for (const auto part : parts(node)) {
        const bool within = part != kTrue && is_within_a_sum(part);
        terms.push_back(within ? as_two(part) : CircuitPlan::Product{slot_of(part), CircuitPlan::kOne});
      }
    }
    is(node).slot = add_step(terms);
  }

  // All factors of a product but the last are multiplied by steps of their own.
  CircuitPlan::Product as_two(std::int32_t product) {
    const auto factors = parts(product);
    auto slot = slot_of(factors.front());
    for (const auto factor : factors.subspan(1, factors.size() - 2)) {
      slot = add_step(std::vector{CircuitPlan::Product{slot, slot_of(factor)}});
    }
    return {slot, slot_of(factors.back())};
  }

  std::int32_t add_step(std::span<const CircuitPlan::Product> terms) {
    const auto begin = std::ssize(plan_.products);
    plan_.products.insert(plan_.products.end(), terms.begin(), terms.end());
    plan_.steps.push_back({static_cast<std::int32_t>(begin), static_cast<std::int32_t>(std::ssize(plan_.products))});
    return plan_.slots() - 1;
  }

  const Circuit& circuit_;
  CircuitPlan plan_;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> parts_;
};

}  // namespace

CircuitPlan plan_of(const Circuit& circuit) { return Planning(circuit).take(); }

}  // namespace anesi
