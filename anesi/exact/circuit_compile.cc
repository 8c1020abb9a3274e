// Compiling a formula with libsdd (the SDD package of UCLA), and reading the result off as a circuit.
//
// An SDD decides by pairs (prime, sub) along a tree of variables. It is deterministic and decomposable; to make it
// smooth, a part that says nothing of some variables of its tree node is multiplied by "anything" over those.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "anesi/core/error.h"
#include "anesi/exact/circuit.h"

#ifdef ANESI_WITH_SDD
extern "C" {
#include <sddapi.h>
}
#endif

namespace anesi {

#ifdef ANESI_WITH_SDD

class CircuitBuilder {
 public:
  explicit CircuitBuilder(int variables) { circuit_.variables_ = variables; }

  Circuit build(SddNode* formula, Vtree* tree) {
    if (sdd_node_is_false(formula)) return std::move(circuit_);
    const auto top = over(formula, tree);
    // The formula must be the last node; it already is, unless it was there before something else.
    if (top + 1 != static_cast<std::int32_t>(circuit_.nodes_.size())) add(Circuit::Kind::kProduct, {top});
    return std::move(circuit_);
  }

 private:
  using Kind = Circuit::Kind;

  std::int32_t add(Kind kind, const std::vector<std::int32_t>& parts, int literal = 0) {
    const auto begin = static_cast<std::int32_t>(circuit_.parts_.size());
    circuit_.parts_.insert(circuit_.parts_.end(), parts.begin(), parts.end());
    circuit_.nodes_.push_back({kind, literal, begin, static_cast<std::int32_t>(circuit_.parts_.size())});
    return static_cast<std::int32_t>(circuit_.nodes_.size()) - 1;
  }

  std::int32_t literal(int value) {
    const auto [place, fresh] = literals_.try_emplace(value, 0);
    if (fresh) place->second = add(Kind::kLiteral, {}, value);
    return place->second;
  }

  // "Anything" over the variables of a tree node.
  std::int32_t anything(const Vtree* tree) {
    const auto [place, fresh] = anything_.try_emplace(tree, 0);
    if (!fresh) return place->second;
    std::int32_t node = 0;
    if (sdd_vtree_is_leaf(tree) != 0) {
      const auto variable = static_cast<int>(sdd_vtree_var(tree));
      node = add(Kind::kSum, {literal(variable), literal(-variable)});
    } else {
      const auto left = anything(sdd_vtree_left(tree)), right = anything(sdd_vtree_right(tree));
      node = add(Kind::kProduct, {left, right});
    }
    return anything_[tree] = node;
  }

  // The node, made smooth over all variables of a tree node that holds its own.
  std::int32_t over(SddNode* node, const Vtree* tree) {
    if (sdd_node_is_true(node)) return anything(tree);
    const auto key = std::pair(sdd_id(node), tree);
    if (const auto found = over_.find(key); found != over_.end()) return found->second;
    std::int32_t result = 0;
    const Vtree* const own = sdd_vtree_of(node);
    if (own == tree) {
      result = sdd_node_is_literal(node) ? literal(static_cast<int>(sdd_node_literal(node))) : decision(node, tree);
    } else {
      const auto* const left = sdd_vtree_left(tree);
      const auto* const right = sdd_vtree_right(tree);
      const bool is_left = sdd_vtree_position(own) < sdd_vtree_position(tree);  // positions run from left to right
      const auto part = over(node, is_left ? left : right), rest = anything(is_left ? right : left);
      result = add(Kind::kProduct, {part, rest});
    }
    return over_[key] = result;
  }

  std::int32_t decision(SddNode* node, const Vtree* tree) {
    std::vector<std::int32_t> parts;
    SddNode** const elements = sdd_node_elements(node);
    for (SddNodeSize index = 0; index < sdd_node_size(node); ++index) {
      SddNode *const prime = elements[2 * index], *const sub = elements[2 * index + 1];
      if (sdd_node_is_false(sub)) continue;
      const auto left = over(prime, sdd_vtree_left(tree)), right = over(sub, sdd_vtree_right(tree));
      parts.push_back(add(Kind::kProduct, {left, right}));
    }
    return parts.size() == 1 ? parts[0] : add(Kind::kSum, parts);
  }

  Circuit circuit_;
  std::map<int, std::int32_t> literals_;
  std::map<const Vtree*, std::int32_t> anything_;
  std::map<std::pair<SddSize, const Vtree*>, std::int32_t> over_;
};

namespace {

// libsdd cannot be told to stop. But it asks for its tree to be improved whenever a formula has grown, in the midst of
// an operation, and what it asks is ours: past the deadline it does not return. libsdd is compiled so that exceptions
// pass.
struct TimeIsUp {};
thread_local std::chrono::steady_clock::time_point deadline;

Vtree* improve_in_time(Vtree* tree, SddManager* manager) {
  const auto left = std::chrono::duration<float>(deadline - std::chrono::steady_clock::now()).count();
  if (left <= 0) throw TimeIsUp();
  sdd_manager_set_vtree_search_time_limit(std::max(1.0F, left), manager);
  return sdd_vtree_minimize_limited(tree, manager);
}

}  // namespace

Circuit Circuit::compile(int variables, const std::vector<std::vector<int>>& clauses, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  if (variables < 1) throw Error("circuit: a formula without variables");
  const std::unique_ptr<SddManager, void (*)(SddManager*)> manager(
      sdd_manager_create(variables, /*auto_gc_and_minimize=*/1), sdd_manager_free);
  deadline = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  sdd_manager_set_minimize_function(improve_in_time, manager.get());
  SddNode* formula = sdd_ref(sdd_manager_true(manager.get()), manager.get());
  std::size_t done = 0;
  const auto conjoin = [&](const std::vector<int>& clause) {
    SddNode* either = sdd_ref(sdd_manager_false(manager.get()), manager.get());
    for (const auto value : clause) {
      if (value == 0 || std::abs(value) > variables) throw Error(fmt::format("circuit: there is no literal {}", value));
      SddNode* const wider =
          sdd_ref(sdd_disjoin(either, sdd_manager_literal(value, manager.get()), manager.get()), manager.get());
      sdd_deref(either, manager.get());
      either = wider;
    }
    SddNode* const both = sdd_ref(sdd_conjoin(formula, either, manager.get()), manager.get());
    sdd_deref(formula, manager.get());
    sdd_deref(either, manager.get());
    formula = both;
  };
  try {
    for (; done < clauses.size(); ++done) {
      conjoin(clauses[done]);
      if (Clock::now() > deadline) throw TimeIsUp();
    }
  } catch (const TimeIsUp&) {
    throw Error(fmt::format("circuit: did not compile in {:.0f} s ({} of {} clauses)", seconds, done, clauses.size()));
  }
  return CircuitBuilder(variables).build(formula, sdd_manager_vtree(manager.get()));
}

#else

Circuit Circuit::compile(int, const std::vector<std::vector<int>>&, double) {
  throw Error("circuit: anesi was built without libsdd; run scripts/setup and build again");
}

#endif

}  // namespace anesi
