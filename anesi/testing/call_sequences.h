// Model-based tests: random sequences of calls of an interface, each compared with a simple model of it. A sequence
// that goes wrong is cut down to few calls that still do, and is told with its seed.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "anesi/testing/random_seed.h"

namespace anesi::toys {

// Possible at any time, whatever was called before. Makes the call, its arguments drawn, of the interface and of its
// model; says in what they differ, "" where they do not.
struct ComparedCall {
  std::string name;
  std::function<std::string(std::mt19937_64& random)> make;
};
using ComparedCalls = std::vector<ComparedCall>;
// A new interface and a new model; the seed decides of what kind they are.
using MakeComparedCalls = std::function<ComparedCalls(std::uint64_t seed)>;

// A call that was drawn: which, and the seed of its arguments.
struct DrawnCall {
  std::size_t which;
  std::uint64_t seed;
};

struct CallSequence {
  std::uint64_t seed;
  std::vector<DrawnCall> calls;

  // What goes wrong, and at which call; "" where nothing does.
  std::string failure(const MakeComparedCalls& make) const {
    const auto compared = make(seed);
    for (std::size_t place = 0; place < calls.size(); ++place) {
      const auto& [name, call] = compared[calls[place].which % compared.size()];
      std::mt19937_64 random(calls[place].seed);
      std::string wrong;
      try {
        wrong = call(random);
      } catch (const std::exception& error) {
        wrong = fmt::format("threw: {}", error.what());
      }
      if (!wrong.empty()) return fmt::format("call {} of {}, {}: {}", place + 1, calls.size(), name, wrong);
    }
    return "";
  }

  // As few calls as leaving out runs of them, ever shorter ones, can make it.
  CallSequence shrunk(const MakeComparedCalls& make) const {
    auto least = *this;
    for (auto length = calls.size() / 2; length > 0; length /= 2) {
      for (std::size_t first = 0; first < least.calls.size();) {
        auto without = least;
        const auto begin = without.calls.begin() + static_cast<std::ptrdiff_t>(first);
        const auto count = std::min(length, without.calls.size() - first);
        without.calls.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
        if (without.failure(make).empty()) {
          first += length;
        } else {
          least = std::move(without);
        }
      }
    }
    return least;
  }

  std::string told(const MakeComparedCalls& make) const {
    const auto compared = make(seed);
    std::string text;
    for (const auto& [which, arguments] : calls) {
      text += fmt::format("\n  {} (seed {})", compared[which % compared.size()].name, arguments);
    }
    return text;
  }
};

inline CallSequence drawn_sequence(std::uint64_t seed, std::size_t length) {
  std::mt19937_64 random(seed);
  CallSequence sequence{seed, {}};
  for (std::size_t call = 0; call < length; ++call) sequence.calls.push_back({random(), random()});
  return sequence;
}

inline void check_call_sequences(const MakeComparedCalls& make, std::uint64_t sequences, std::size_t length) {
  const RandomSeed seed;
  for (std::uint64_t number = 0; number < sequences; ++number) {
    const auto sequence = drawn_sequence(seed + number, length);
    if (sequence.failure(make).empty()) continue;
    const auto least = sequence.shrunk(make);
    FAIL() << least.failure(make) << "\nafter these calls of what is made with seed " << least.seed << ":"
           << least.told(make);
  }
}

// From 0 to below `below`.
inline std::int64_t drawn_below(std::int64_t below, std::mt19937_64& random) {
  return std::uniform_int_distribution<std::int64_t>(0, below - 1)(random);
}

}  // namespace anesi::toys
