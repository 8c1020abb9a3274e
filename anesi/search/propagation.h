// What is still possible while a search decides world variables one after another.
//
// Where a pruner answers a question about a partial world from scratch, a propagation goes along with the search: it
// keeps a domain for each variable, draws conclusions from every decision and takes them back with it. It never rules
// out a value that some world with the wanted output has, given what is decided; it may leave values that none has, so
// a search asks c about the world it ends with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "anesi/core/space.h"

namespace anesi {

// Belongs to one search, on one thread.
class Propagation {
 public:
  virtual ~Propagation() = default;

  // The values each world variable may still have: bit v for value v. Stays valid, and follows decide() and undo().
  // An empty domain before anything is decided: no world gives the output. A domain of one value counts as decided.
  virtual std::span<const std::uint64_t> domains() const = 0;

  // Decides a variable for a value of its domain and draws conclusions. False where it leads to a dead end; all that
  // can be done then is undo().
  virtual bool decide(std::int64_t variable, std::int64_t value) = 0;

  // The variables whose domains the last decide() made smaller; some perhaps twice. Valid until the next call.
  virtual std::span<const std::int64_t> changed() const = 0;

  // Takes back the last decision not yet taken back, and all conclusions from it.
  virtual void undo() = 0;
};

// A fact: what follows from deciding world variables one after another, where c(w) is to be `output`; kUnset leaves an
// output variable open. Buys the most probable world that gives an output, where there is no automaton
// (most_probable_worlds.h). One is made for each search, from several threads at once, so it should be cheap; `output`
// is valid during the call only.
struct PropagationOf {
  std::function<std::unique_ptr<Propagation>(Values output)> make;
};

}  // namespace anesi
