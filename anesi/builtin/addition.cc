#include "anesi/builtin/addition.h"

#include "anesi/core/reading_order.h"
#include "anesi/exact/automaton.h"
#include "anesi/logic/cnf.h"
#include "anesi/search/automaton_pruner.h"

namespace anesi {
namespace {

Space sum_space(std::int64_t digits) {
  std::vector<std::int64_t> domains(static_cast<std::size_t>(digits) + 1, 10);
  domains[0] = 2;
  return Space(std::move(domains));
}

ReadingOrder reading_order(std::int64_t digits, const Space& worlds, const Space& outputs) {
  std::vector<ReadingStep> steps;
  for (auto place = digits; place-- > 0;) {
    steps.push_back({.reads = {place, digits + place}, .emits = place + 1, .kind = 0});
  }
  steps.push_back({.reads = {}, .emits = 0, .kind = 1});
  return ReadingOrder(worlds, outputs, std::move(steps));
}

Automaton::Move move(std::int64_t kind, Values read, std::int64_t carry) {
  if (kind == 1) return {.emits = carry, .next = 0};
  const auto sum = read[0] + read[1] + carry;
  return {.emits = sum % 10, .next = sum / 10};
}

Cnf formula(std::int64_t digits, const Space& worlds, const Space& outputs) {
  Cnf cnf(worlds, outputs);
  // The carry into a place, as the literal that says there is one; none goes into the last, the first's is the output.
  int carry_in = 0;
  for (auto place = digits; place-- > 0;) {
    const auto carry_out = place == 0 ? cnf.output(0, 1) : cnf.fresh_variable();
    for (std::int64_t first = 0; first < 10; ++first) {
      for (std::int64_t second = 0; second < 10; ++second) {
        for (std::int64_t carry = 0; carry < (carry_in == 0 ? 1 : 2); ++carry) {
          const auto sum = first + second + carry;
          std::vector<int> unless{-cnf.world(place, first), -cnf.world(digits + place, second)};
          if (carry_in != 0) unless.push_back(carry == 1 ? -carry_in : carry_in);
          auto digit = unless, moves = unless;
          digit.push_back(cnf.output(place + 1, sum % 10));
          moves.push_back(sum >= 10 ? carry_out : -carry_out);
          cnf.add(std::move(digit));
          cnf.add(std::move(moves));
        }
      }
    }
    carry_in = carry_out;
  }
  return cnf;
}

}  // namespace

Addition::Addition(std::int64_t digits)
    : digits_(static_cast<std::size_t>(digits)), worlds_(Space::uniform(2 * digits, 10)), outputs_(sum_space(digits)) {
  const auto reading = reading_order(digits, worlds_, outputs_);
  const auto automaton = std::make_shared<const Automaton>(reading, /*states=*/2, /*start=*/0, move);
  facts_.with(reading).with(automaton);
  facts_.lazily<Pruner>([automaton] { return make_automaton_pruner(automaton); });
  facts_.lazily<Cnf>([digits, worlds = worlds_, outputs = outputs_] { return formula(digits, worlds, outputs); });
}

void Addition::apply_to_one(Values world, MutableValues output) const {
  std::int64_t carry = 0;
  for (auto place = digits_; place-- > 0;) {
    const auto sum = world[place] + world[digits_ + place] + carry;
    output[place + 1] = sum % 10;
    carry = sum / 10;
  }
  output[0] = carry;
}

}  // namespace anesi
