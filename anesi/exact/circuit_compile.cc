// Compiling a formula with libsdd (the SDD package of UCLA), and reading the result off as a circuit.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <new>

#include "anesi/core/error.h"
#include "anesi/exact/circuit_builder.h"

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

// What this thread has computed, in seconds. By the clock on the wall, whether a formula compiles would hang on what
// else the machine does, and with it the examples that a task draws: a run could not go on with its own.
double computed() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Vtree* improve_in_time(Vtree* tree, SddManager* manager) {
  const auto left = static_cast<float>(deadline - computed());
  if (left <= 0) throw TimeIsUp();
  sdd_manager_set_vtree_search_time_limit(std::max(1.0F, left), manager);
  return sdd_vtree_minimize_limited(tree, manager);
}

}  // namespace

Circuit Circuit::compile(int variables, const std::vector<std::vector<int>>& clauses, double seconds) {
  if (variables < 1) throw Error("circuit: a formula without variables");
  std::unique_ptr<SddManager, void (*)(SddManager*)> manager(sdd_manager_create(variables, /*auto_gc_and_minimize=*/1),
                                                             sdd_manager_free);
  deadline = computed() + seconds;
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
      if (computed() > deadline) throw TimeIsUp();
    }
  } catch (const std::bad_alloc&) {
    static_cast<void>(manager.release());  // it was left in the midst of something, and may not be whole
    throw;
  } catch (const TimeIsUp&) {
    throw Error(fmt::format("circuit: did not compile in {:.0f} s ({} of {} clauses)", seconds, done, clauses.size()));
  }
  return SddReader(variables).read(formula);
}

#else

Circuit Circuit::compile(int, const std::vector<std::vector<int>>&, double) {
  throw Error("circuit: anesi was built without libsdd; run scripts/setup and build again");
}

#endif

}  // namespace anesi
