// c as discovery asks it: in batches, counted, within limits.
#pragma once

#include <chrono>
#include <cstdint>

#include "anesi/core/error.h"
#include "anesi/core/problem.h"
#include "anesi/options/option_table.h"

namespace anesi {

struct DiscoverLimits {
  std::int64_t states = 4096, calls = 200'000'000;
  double seconds = 20;

  void describe(OptionTable& table) {
    table.add("states", states, {1, 1'000'000}, "states that a memory may have at any time");
    table.add("calls", calls, {1000, 1'000'000'000'000}, "calls of c after which discovery is given up");
    table.add("seconds", seconds, {0.1, 1'000'000}, "time after which discovery is given up");
  }
};

// A limit was reached. What was found until then stands.
class LimitReached : public Error {
 public:
  using Error::Error;
};

class Oracle {
 public:
  Oracle(const Problem& problem, const DiscoverLimits& limits);

  const Problem& problem() const { return problem_; }
  const Space& worlds() const { return problem_.worlds(); }
  const Space& outputs() const { return problem_.outputs(); }
  const DiscoverLimits& limits() const { return limits_; }

  // c of each row. Throws LimitReached where calls or seconds ran out, or where an output is shorter than its space,
  // and Error where one lies outside it.
  Points ask(PointRows worlds);

  std::int64_t calls() const { return calls_; }
  // For what is worth only so much: until it is called again with another number, calls beyond it are refused too.
  void allow_calls(std::int64_t calls) { allowed_ = calls; }
  double seconds() const;
  double seconds_left() const { return limits_.seconds - seconds(); }

 private:
  void check(PointRows worlds, PointRows outputs) const;

  const Problem& problem_;
  DiscoverLimits limits_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::int64_t calls_ = 0, allowed_ = limits_.calls, rows_at_once_ = 1;
};

}  // namespace anesi
