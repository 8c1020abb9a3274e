// What a circuit is not, by libsdd (the SDD package of UCLA), which can negate; the result is read off as a circuit.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <utility>

#include "anesi/core/error.h"
#include "anesi/core/interrupt.h"
#include "anesi/logic/circuit_builder.h"
#include "anesi/logic/decision_compiler.h"
#include "anesi/logic/thread_time.h"

#ifdef ANESI_WITH_SDD
extern "C" {
#include <sddapi.h>

// What libsdd calls in place of malloc and the like (libsdd_memory.h).
void* anesi_sdd_malloc(std::size_t size) {
  void* const made = std::malloc(size);
  return made != nullptr || size == 0 ? made : throw std::bad_alloc();
}
void* anesi_sdd_calloc(std::size_t count, std::size_t size) {
  void* const made = std::calloc(count, size);
  return made != nullptr || count == 0 || size == 0 ? made : throw std::bad_alloc();
}
void* anesi_sdd_realloc(void* old, std::size_t size) {
  void* const made = std::realloc(old, size);
  return made != nullptr || size == 0 ? made : throw std::bad_alloc();
}
clock_t anesi_sdd_clock();
}
#endif

namespace anesi {

#ifdef ANESI_WITH_SDD

namespace {

// Reads an SDD off as a circuit. It decides by pairs (prime, sub) along a tree of variables.
class SddReader {
 public:
  explicit SddReader(int variables) : builder_(variables) {}

  Circuit read(SddNode* formula) { return builder_.build(part_of(formula)); }

 private:
  CircuitBuilder::Part part_of(SddNode* node) {
    if (sdd_node_is_false(node)) return CircuitBuilder::kFalse;
    if (sdd_node_is_true(node)) return CircuitBuilder::kTrue;
    if (sdd_node_is_literal(node)) return builder_.literal(static_cast<int>(sdd_node_literal(node)));
    if (const auto found = parts_.find(sdd_id(node)); found != parts_.end()) return found->second;
    std::vector<CircuitBuilder::Part> pairs;
    SddNode** const elements = sdd_node_elements(node);
    for (SddNodeSize index = 0; index < sdd_node_size(node); ++index) {
      const auto prime = part_of(elements[2 * index]), sub = part_of(elements[2 * index + 1]);
      pairs.push_back(builder_.product({prime, sub}));
    }
    return parts_[sdd_id(node)] = builder_.sum(pairs);
  }

  CircuitBuilder builder_;
  std::map<SddSize, CircuitBuilder::Part> parts_;
};

}  // namespace

namespace {

// libsdd cannot be told to stop. But it asks for its tree to be improved whenever a formula has grown, in the midst of
// an operation, and what it asks is ours: past the deadline it does not return. libsdd is compiled so that exceptions
// pass.
struct TimeIsUp {};
thread_local double deadline = 0;

// libsdd looks at the clock while it improves its tree, in the midst of changes that no exception may leave half done.
// So if the computation should end, the clock leaps ahead, further with each look, and libsdd winds up by itself.
thread_local std::exception_ptr interruption;
thread_local clock_t leap = 0;

void end_if_interrupted() {
  if (interruption) std::rethrow_exception(std::exchange(interruption, nullptr));
  check_interrupt();
}

Vtree* improve_in_time(Vtree* tree, SddManager* manager) {
  end_if_interrupted();
  const auto left = static_cast<float>(deadline - thread_seconds());
  if (left <= 0) throw TimeIsUp();
  sdd_manager_set_vtree_search_time_limit(std::max(1.0F, left), manager);
  auto* const improved = sdd_vtree_minimize_limited(tree, manager);
  end_if_interrupted();
  return improved;
}

}  // namespace

extern "C" clock_t anesi_sdd_clock() {
  constexpr clock_t kLeap = clock_t{1'000'000} * CLOCKS_PER_SEC;
  if (!interruption) {
    try {
      check_interrupt();
    } catch (...) {
      interruption = std::current_exception();
    }
  }
  if (interruption) leap += kLeap;
  return std::clock() + leap;
}

namespace {

// One compilation: libsdd's manager, and the clock.
class Compilation {
 public:
  Compilation(int variables, double seconds) : variables_(variables), seconds_(seconds) {
    if (variables < 1) throw Error("circuit: a formula without variables");
    manager_.reset(sdd_manager_create(variables, /*auto_gc_and_minimize=*/1));
    deadline = thread_seconds() + seconds;
    interruption = nullptr;
    leap = 0;
    sdd_manager_set_minimize_function(improve_in_time, manager_.get());
  }

  // The circuit of the formula that `make` makes.
  template <typename Make>
  Circuit run(Make make) {
    try {
      return SddReader(variables_).read(make());
    } catch (const std::bad_alloc&) {
      static_cast<void>(manager_.release());  // it was left in the midst of something, and may not be whole
      throw;
    } catch (const TimeIsUp&) {
      throw Error(fmt::format("circuit: did not compile in {:.0f} s ({} of {} {})", seconds_, done_, steps_, what_));
    }
  }

  // The same and these clauses.
  SddNode* conjoin(SddNode* formula, const std::vector<std::vector<int>>& clauses) {
    begin(clauses.size(), "clauses");
    for (const auto& clause : clauses) {
      SddNode* either = kept(sdd_manager_false(manager()));
      for (const auto value : clause) either = instead(sdd_disjoin(either, literal(value), manager()), either);
      SddNode* const both = instead(sdd_conjoin(formula, either, manager()), formula);
      sdd_deref(either, manager());
      formula = both;
      end_step();
    }
    return formula;
  }

  SddNode* literal(int value) {
    if (value == 0 || std::abs(value) > variables_) throw Error(fmt::format("circuit: there is no literal {}", value));
    return sdd_manager_literal(value, manager());
  }
  SddManager* manager() { return manager_.get(); }
  SddNode* kept(SddNode* node) { return sdd_ref(node, manager()); }
  // Keeps a node, and lets go of another.
  SddNode* instead(SddNode* node, SddNode* old) {
    kept(node);
    sdd_deref(old, manager());
    return node;
  }
  void begin(std::size_t steps, const char* what) {
    done_ = 0;
    steps_ = steps;
    what_ = what;
  }
  void end_step() {
    ++done_;
    end_if_interrupted();
    if (thread_seconds() > deadline) throw TimeIsUp();
  }

 private:
  int variables_;
  double seconds_;
  std::unique_ptr<SddManager, void (*)(SddManager*)> manager_{nullptr, sdd_manager_free};
  std::size_t done_ = 0, steps_ = 0;  // of what is being compiled
  const char* what_ = "clauses";
};

}  // namespace

Circuit Circuit::complement(const std::vector<int>& hidden, const std::vector<std::vector<int>>& clauses,
                            double seconds) const {
  Compilation compilation(variables_, seconds);
  auto* const manager = compilation.manager();
  return compilation.run([&] {
    compilation.begin(nodes_.size(), "nodes");
    std::vector<SddNode*> made;
    for (const auto& node : nodes_) {
      auto* whole = compilation.kept(node.kind == Kind::kLiteral   ? compilation.literal(node.literal)
                                     : node.kind == Kind::kProduct ? sdd_manager_true(manager)
                                                                   : sdd_manager_false(manager));
      for (const auto part : parts_of(node)) {
        auto* const other = made[static_cast<std::size_t>(part)];
        whole = compilation.instead(
            node.kind == Kind::kProduct ? sdd_conjoin(whole, other, manager) : sdd_disjoin(whole, other, manager),
            whole);
      }
      made.push_back(whole);
      compilation.end_step();
    }
    auto* formula = compilation.kept(nodes_.empty() ? sdd_manager_false(manager) : made.back());
    for (const auto variable : hidden) {
      formula = compilation.instead(sdd_exists(variable, formula, manager), formula);
      compilation.end_step();
    }
    return compilation.conjoin(compilation.instead(sdd_negate(formula, manager), formula), clauses);
  });
}

#else

Circuit Circuit::complement(const std::vector<int>& hidden, const std::vector<std::vector<int>>& clauses,
                            double seconds) const {
  return complement_by_decisions(*this, hidden, clauses, {.seconds = seconds});
}

#endif

}  // namespace anesi
