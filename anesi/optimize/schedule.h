// How a learning rate and a regulariser change over training.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "anesi/options/option_table.h"

namespace anesi {

// What an optimiser is to use at a step.
struct Rate {
  double learning_rate = 0.001, beta1 = 0.9;
};

enum class Shape { kConstant, kCosine, kOneCycle };
constexpr std::array<std::string_view, 3> names_of(Shape) { return {"constant", "cosine", "one_cycle"}; }

struct Schedule {
  double lr = 0.001;
  Shape shape = Shape::kConstant;
  double warmup = 0.2;

  void describe(OptionTable& table) {
    table.add("lr", lr, {1e-8, 10}, "learning rate, or its peak");
    table.add("schedule", shape, "constant; cosine: falls to 2 %; one_cycle: rises from 4 %, falls to nearly nothing");
    table.add("warmup", warmup, {0, 1}, "share of the steps that one_cycle spends rising");
  }

  // At a step of `steps`. One cycle moves the momentum against the learning rate.
  Rate at(std::int64_t step, std::int64_t steps) const;
};

// A smoothing that starts at `start` and is gone after three quarters of the steps, so that beliefs end up as sure as
// they are right.
double faded(double start, std::int64_t step, std::int64_t steps);

}  // namespace anesi
