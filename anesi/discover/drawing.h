// A picture of a small automaton, as SVG: what a function remembers, for people to look at.
//
// Columns of states stand from left to right, one before each step and one after the last. Edges say which values lead
// from state to state and, behind a stroke, what is emitted. Where steps repeat, only as many are drawn as show every
// move once, and the last one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "anesi/exact/automaton.h"

namespace anesi {

struct DrawingWords {
  std::string title = {};
  // What variables are called; "w3" and "y1", counted from 0, where these are empty.
  std::function<std::string(std::int64_t variable)> world = {}, output = {};
};

// Throws UsageError where a column that would be drawn has more than 24 states.
std::string draw_automaton(const Automaton& automaton, const DrawingWords& words = {});

}  // namespace anesi
